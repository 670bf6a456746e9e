# SPDX-License-Identifier: MIT
# An image with the program and nothing to build it with, for a user without rights. docs/install.md has the commands.
# PACKAGES names the Debian packages of rela, and others, that the image gets.
FROM debian:bookworm-slim AS build
WORKDIR /source
COPY tools/setup tools/setup
RUN tools/setup deb
COPY . .
RUN tools/deb /packages && cd /packages && rm -f *-dbgsym_* && dpkg-scanpackages . >Packages

FROM debian:bookworm-slim
ARG PACKAGES="rela fonts-dejavu-core"
COPY --from=build /packages /packages
RUN echo "deb [trusted=yes] file:/packages ./" >/etc/apt/sources.list.d/rela.list && \
    apt-get update && apt-get install -y --no-install-recommends $PACKAGES && \
    rm -rf /packages /etc/apt/sources.list.d/rela.list /var/lib/apt/lists/* && \
    useradd --create-home rela
USER rela
WORKDIR /data
ENTRYPOINT ["rela"]
CMD ["--help"]
