# The service without the embedded PostgreSQL: it wants SVC_GRAPHQL_DATABASE_URL or SVC_GRAPHQL_METADATA_DATABASE_URL.
#   docker build --tag svc-graphql:0.1.0 .
#   docker run --rm -p 8080:8080 -e SVC_GRAPHQL_DATABASE_URL=postgres://… -e SVC_GRAPHQL_ADMIN_SECRET=… svc-graphql:0.1.0
# It needs nothing that can be written: `--read-only` works. docs/how-to/deploy-docker.md tells more.
ARG NODE_IMAGE=node:24.21.0-trixie-slim

# There are no native modules, so that it can be built on any platform for any other.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
# For networks without the public registry, and for a proxy with a certificate of its own.
ARG NPM_CONFIG_REGISTRY
ARG NODE_EXTRA_CA_CERTS
WORKDIR /build
COPY package.json package-lock.json ./
COPY console/package.json console/
RUN npm ci --no-audit --no-fund
COPY . .
RUN node scripts/build.mjs --force --docs \
    && npm ci --omit=dev --omit=optional --ignore-scripts --workspaces=false --no-audit --no-fund

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="svc-graphql" \
      org.opencontainers.image.description="One governed GraphQL API over databases and remote GraphQL servers" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="0.1.0"
ENV NODE_ENV=production \
    NODE_OPTIONS=--max-old-space-size-percentage=75
WORKDIR /app
COPY --from=build /build/package.json /build/README.md /build/LICENSE ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
USER 1000:1000
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 CMD ["node", "dist/cli/main.js", "health"]
ENTRYPOINT ["node", "dist/cli/main.js"]
CMD ["serve"]
