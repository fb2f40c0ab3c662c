# vicinity for processors, on Debian 12: set up and built. GPU rows come from the recorded runs. With podman or buildah just as well.
#
#   docker build -t vicinity --build-arg COMMIT=$(git rev-parse HEAD) .
#   docker run --rm -v "$PWD/mine:/results" vicinity                                     make reproduce; records and report in mine/
#   docker run --rm vicinity make test
#   docker run --rm -v "$PWD:/work" -w /work vicinity vicinity solve SYSTEM --instance mine.dat
FROM docker.io/library/debian:12
WORKDIR /vicinity

# Changes of the sources leave this layer, which takes longest to fetch, as it is.
COPY scripts/setup scripts/common.sh scripts/packages.txt scripts/packages_test.txt scripts/
COPY requirements.lock .
RUN apt-get update -q \
 && apt-get install -qy --no-install-recommends ca-certificates \
 && scripts/setup \
 && rm -rf /var/lib/apt/lists/* /root/.cache

# NATIVE=OFF: for an image that runs on other processors than the one that builds it; honest times want ON.
ARG NATIVE=ON
COPY . .
RUN cmake --preset release -DVICINITY_CUDA=OFF -DVICINITY_NATIVE=$NATIVE \
 && scripts/build vicinity \
 && .venv/bin/pip install -q --no-deps --no-cache-dir ./analysis \
 && mkdir /results

ARG COMMIT=unknown
ENV PATH=/vicinity/build:/vicinity/.venv/bin:$PATH VICINITY_COMMIT=$COMMIT RESULTS=/results
CMD ["make", "reproduce"]
