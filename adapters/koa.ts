import type { ExchangeReply, Guarded, Mountable } from '../src/http/exchange.js'
import { type NativeGuards, nativeGuards } from './shared/native-guards.js'
import { type NodeRequest, nodeExchange, nodeGuarded } from './shared/node-exchange.js'

/** What is used of a Koa context. */
interface KoaContext {
  /** Koa's own, without what `koa-mount` took off. */
  readonly url: string
  /** `body` is there, or on Koa's own request, when a parser ran before. */
  readonly req: NodeRequest & { readonly body?: unknown }
  readonly request: { readonly url: string; readonly body?: unknown }
  status: number
  body: unknown
  set(name: string, value: string): void
  append(name: string, value: string[]): void
  vary(name: string): void
}

type KoaHandler = (context: KoaContext, next: () => Promise<unknown>) => Promise<void>

/**
 * Middleware that answers for `auth.operator`, `auth.client` or `auth.both` and passes everything
 * else on: `app.use(koaRouter(auth.both))`, before or after a body parser. Under a prefix by
 * `koa-mount`, or, where nothing takes the prefix off the path, by naming it here.
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
 * Guards for your own routes, as middleware: with `{ requireUser, principalOf }` of
 * `koaGuards(auth.client)`, `router.get('/orders', requireUser(), handler)`. Refusals are the
 * library's problem bodies; `principalOf` takes the context.
 */
export function koaGuards<P, A extends string>(
  surface: Guarded<P, A>,
): NativeGuards<P, A, KoaHandler, object> {
  return nativeGuards<P, A, KoaHandler, object>('koaGuards', surface, (admit) => {
    return async (context, next) => {
      const refusal = await admit(context, nodeGuarded(context.req))
      if (refusal === null) await next()
      else send(context, refusal)
    }
  })
}

function send(context: KoaContext, { status, headers, cookies, body }: ExchangeReply): void {
  // In this order: a body of null makes Koa choose 204, and any body a content type.
  context.body = body
  context.status = status
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'vary') context.vary(value)
    else context.set(name, value)
  }
  if (cookies.length > 0) context.append('Set-Cookie', [...cookies])
}
