# Stand-ins for the official images, for tests on a machine that reaches packages but no registry of images. The test
# `npm run test:compose` builds each target under the name of an official image, in an engine of its own.
#
# Same as officially: versions of Node and HAProxy, users, paths, ports, volumes and entrypoints. Different: Debian 13 for
# Alpine and Debian 12; Debian's nats-server, PostgreSQL 17 and pgvector; the machine's certificates and npm registry.
FROM scratch AS debian
ADD debian.tar /

FROM debian AS node
RUN groupadd --gid 1000 node && useradd --uid 1000 --gid node --shell /bin/bash --create-home node
COPY --chmod=755 node/bin/node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
COPY npmrc /usr/local/etc/npmrc
COPY ca.crt /usr/local/share/stand-in/ca.crt
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \
 && ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx \
 && chmod 755 /usr/local/lib/node_modules/npm/bin/*.js && npm --version
CMD ["node"]

FROM debian AS servers
RUN apt-get update -qq \
 && mkdir -p /etc/postgresql-common \
 && echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf \
 && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
    nats-server haproxy busybox-static postgresql-17 postgresql-17-pgvector >/dev/null \
 && ln -s /bin/busybox /usr/local/bin/wget

FROM servers AS nats
ENTRYPOINT ["nats-server"]

FROM servers AS haproxy
STOPSIGNAL SIGUSR1
CMD ["haproxy", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]

FROM servers AS postgres
# Debian numbers its user by itself; volumes belong to the official number.
RUN usermod --uid 999 postgres && groupmod --gid 999 postgres
ENV LANG=C.UTF-8 PGDATA=/var/lib/postgresql/data PATH=/usr/local/bin:/usr/bin:/bin:/usr/lib/postgresql/17/bin
RUN rm -rf /var/lib/postgresql && install -d -o postgres -g postgres -m 1777 "$PGDATA"
COPY --chmod=755 postgres-entrypoint.sh /usr/local/bin/
VOLUME /var/lib/postgresql/data
STOPSIGNAL SIGINT
ENTRYPOINT ["postgres-entrypoint.sh"]
CMD ["postgres"]
