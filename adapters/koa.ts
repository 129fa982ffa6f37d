import type { ExchangeReply, Mountable, RouteGuarded } from '../src/http/http-message.js'
import { type NativeGuards, nativeGuards } from './shared/native-guards.js'
import { headersFor, type NodeRequest, nodeExchange, nodeGuarded } from './shared/node-exchange.js'

export type { NativeGuards }

/** The members of a Koa context that are used here. */
export interface KoaContext {
  /** The path and query, without the prefix that `koa-mount` removed. */
  readonly url: string
  /** A parser that ran before leaves the body here or on Koa's own request. */
  readonly req: NodeRequest & { readonly body?: unknown }
  readonly request: { readonly url: string; readonly body?: unknown }
  status: number
  body: unknown
  set(name: string, value: string): void
  append(name: string, value: string[]): void
  vary(name: string): void
}

/** Middleware of Koa. */
export type KoaHandler = (context: KoaContext, next: () => Promise<unknown>) => Promise<void>

/**
 * Middleware that serves the routes of `auth.operator`, `auth.client` or `auth.both` and passes every
 * other request on. Use it before or after a body parser. For a mount path use `koa-mount`, or name
 * the path as `prefix` where nothing removes it. Throws a `TypeError` for anything else than these
 * three.
 *
 * @example
 * import Koa from 'koa'
 * import { koaRouter } from 'postern/koa'
 *
 * const app = new Koa()
 * app.use(koaRouter(auth.client, { prefix: '/identity' }))
 */
export function koaRouter(
  mountable: Mountable,
  options: { readonly prefix?: string } = {},
): KoaHandler {
  if (typeof mountable?.handle !== 'function') {
    throw new TypeError('koaRouter: needs auth.operator, auth.client or auth.both')
  }
  const prefix = (options.prefix ?? '').replace(/\/$/, '')
  return async (context, next) => {
    if (!context.url.startsWith(`${prefix}/`)) return void (await next())
    const url = context.url.slice(prefix.length)
    const parsed = () => context.request.body ?? context.req.body
    const reply = await mountable.handle(nodeExchange(context.req, { url, parsed }))
    if (reply === null) await next()
    else send(context, reply)
  }
}

/**
 * Route guards for your own routes, as middleware: `router.get('/orders', requireUser(), handler)`.
 * `principalOf` takes the context. A refusal is answered with the library's problem body. Throws a
 * `TypeError` for anything but `auth.operator` or `auth.client`.
 */
export function koaGuards<P, A extends string>(
  surface: RouteGuarded<P, A>,
): NativeGuards<P, A, KoaHandler, object> {
  return nativeGuards<P, A, KoaHandler, object>('koaGuards', surface, (admit) => {
    return async (context, next) => {
      const admitted = admit(context, nodeGuarded(context.req))
      const refusal = admitted instanceof Promise ? await admitted : admitted
      if (refusal === null) await next()
      else send(context, refusal)
    }
  })
}

function send(context: KoaContext, reply: ExchangeReply): void {
  const { status, cookies, body } = reply
  // In this order: a body of null makes Koa choose 204, and any body a content type.
  context.body = body
  context.status = status
  for (const [name, value] of headersFor(context.req, reply)) {
    if (name === 'vary') context.vary(value)
    else context.set(name, value)
  }
  if (cookies.length > 0) context.append('Set-Cookie', [...cookies])
}
