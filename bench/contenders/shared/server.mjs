// What every contender that serves HTTP does alike.
import http from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'

// Connections stay open between slices, however long the other contenders take.
const listen = http.Server.prototype.listen
http.Server.prototype.listen = function patient(...args) {
  this.keepAliveTimeout = 900_000
  this.headersTimeout = 0
  this.requestTimeout = 0
  return listen.apply(this, args)
}

/** Starts an Express or Koa application, an oidc-provider, or a plain handler; its port. */
export function portOf(app) {
  return new Promise((resolve) => {
    const server = app.listen(0, '127.0.0.1', () => resolve(server.address().port))
  })
}

/** The 99th percentile of the event loop's delay since it was last asked, in milliseconds. */
export function loopDelay() {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  return () => {
    const p99 = delay.percentile(99) / 1e6
    delay.reset()
    return p99
  }
}
