import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ExchangeReply, Mountable, RouteGuarded } from '../src/http/http-message.js'
import { type NativeGuards, nativeGuards } from './shared/native-guards.js'
import { headersFor, nodeExchange, nodeGuarded, varyWith } from './shared/node-exchange.js'

export type { NativeGuards }

/** What Express adds to Node's request; `body` is there when a parser ran before. */
export interface ExpressRequest extends IncomingMessage {
  readonly body?: unknown
}

/** Node's request, as a route's middleware sees it in Express. */
export interface ExpressRouted extends IncomingMessage {
  readonly params: Readonly<Record<string, unknown>>
}

/** Middleware of Express. */
export type ExpressHandler<R = ExpressRequest> = (
  request: R,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void

/**
 * Middleware that serves the routes of `auth.operator`, `auth.client` or `auth.both` and passes every
 * other request on. Mount it under any prefix, before or after `express.json()`. Throws a `TypeError`
 * for anything else than these three.
 *
 * @example
 * import express from 'express'
 * import { expressGuards, expressRouter } from 'postern/express'
 *
 * const app = express()
 * app.use(expressRouter(auth.client))
 * const { requireUser, principalOf } = expressGuards(auth.client)
 * app.get('/whoami', requireUser(), (request, response) => {
 *   response.json({ id: principalOf(request).userId })
 * })
 */
export function expressRouter(mountable: Mountable): ExpressHandler {
  if (typeof mountable?.handle !== 'function') {
    throw new TypeError('expressRouter: needs auth.operator, auth.client or auth.both')
  }
  return (request, response, next) => {
    mountable
      .handle(nodeExchange(request, { url: request.url ?? '/', parsed: () => request.body }))
      .then((reply) => (reply === null ? next() : send(request, response, reply)))
      .catch(next)
  }
}

/**
 * Route guards for your own routes, as middleware: `app.get('/orders', requireUser(), handler)`. A
 * refusal is answered as the library's own routes answer it, with a problem body. Throws a
 * `TypeError` for anything but `auth.operator` or `auth.client`.
 */
export function expressGuards<P, A extends string>(
  surface: RouteGuarded<P, A>,
): NativeGuards<P, A, ExpressHandler<IncomingMessage>, IncomingMessage, ExpressRouted> {
  return nativeGuards('expressGuards', surface, (admit) => (request, response, next) => {
    const answer = (refusal: ExchangeReply | null): void => {
      if (refusal === null) next()
      else send(request, response, refusal)
    }
    // Express sets `params` before it calls a route's middleware. A guard whose type named them would make those of
    // the handlers behind it `unknown`.
    const refusal = admit(request as ExpressRouted, nodeGuarded(request))
    if (refusal instanceof Promise) refusal.then(answer).catch(next)
    else answer(refusal)
  })
}

function send(request: IncomingMessage, response: ServerResponse, reply: ExchangeReply): void {
  const { status, cookies, body } = reply
  response.statusCode = status
  for (const [name, value] of headersFor(request, reply)) {
    response.setHeader(name, name === 'vary' ? varyWith(response.getHeader(name), value) : value)
  }
  if (cookies.length > 0) response.appendHeader('set-cookie', cookies)
  response.end(body ?? undefined)
}
