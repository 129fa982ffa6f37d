import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { ExchangeReply, Mountable, RouteGuarded } from '../src/http/http-message.js'
import { type NativeGuards, nativeGuards } from './shared/native-guards.js'
import { headersFor, nodeExchange, nodeGuarded, varyWith } from './shared/node-exchange.js'

export type { NativeGuards }

/**
 * A plugin with the routes of `auth.operator`, `auth.client` or `auth.both`. Register it under any
 * `prefix`; body parsers of the host do not affect it. It answers before a body is parsed, so the
 * host's `preParsing`, `preValidation` and `preHandler` hooks do not run on these routes;
 * `onRequest`, `onSend` and `onResponse` do. Throws a `TypeError` for anything else than these three.
 *
 * @example
 * import fastify from 'fastify'
 * import { fastifyGuards, fastifyRouter } from 'postern/fastify'
 *
 * const app = fastify()
 * app.register(fastifyRouter(auth.client), { prefix: '/identity' })
 * const { requireUser, principalOf } = fastifyGuards(auth.client)
 * app.get('/whoami', { onRequest: requireUser() }, async (request) => principalOf(request).userId)
 */
export function fastifyRouter(mountable: Mountable): FastifyPluginAsync {
  if (typeof mountable?.handle !== 'function') {
    throw new TypeError('fastifyRouter: needs auth.operator, auth.client or auth.both')
  }
  return async (app) => {
    // Fastify leaves out a slash at the end of a prefix, and yet keeps it in `prefix`.
    const depth = app.prefix.replace(/\/$/, '').split('/').length
    for (const path of mountable.paths.flatMap((path) => [path, `${path}/*`])) {
      app.route({
        method: app.supportedMethods,
        url: path,
        exposeHeadRoute: false,
        async onRequest(request, reply) {
          // By segments, because those of a prefix may be parameters.
          const url = `/${request.url.split('/').slice(depth).join('/')}`
          const parsed = () => request.body
          const answer = await mountable.handle(nodeExchange(request.raw, { url, parsed }))
          if (answer === null) reply.callNotFound()
          else send(reply, answer)
          return reply
        },
        // Every request was answered in the hook; but Fastify wants a handler.
        handler: (_request, reply) => reply.callNotFound(),
      })
    }
  }
}

/** A request, as a route's hook sees it in Fastify. */
export type FastifyRouted = FastifyRequest<{ Params: Readonly<Record<string, unknown>> }>

/** A hook of a route of Fastify. */
export type FastifyHook<R> = (request: R, reply: FastifyReply) => Promise<unknown>

/**
 * Route guards for your own routes, as hooks: `app.get('/orders', { onRequest: requireUser() },
 * handler)`. A refusal is answered with the library's problem body. Several guards in one list run in
 * their order. Throws a `TypeError` for anything but `auth.operator` or `auth.client`.
 */
export function fastifyGuards<P, A extends string>(
  surface: RouteGuarded<P, A>,
): NativeGuards<P, A, FastifyHook<FastifyRouted>, FastifyRequest, FastifyRouted> {
  return nativeGuards('fastifyGuards', surface, (admit) => async (request, reply) => {
    const admitted = admit(request, nodeGuarded(request.raw))
    const refusal = admitted instanceof Promise ? await admitted : admitted
    if (refusal === null) return undefined
    send(reply, refusal)
    return reply
  })
}

function send(reply: FastifyReply, answer: ExchangeReply): void {
  const { status, cookies, body } = answer
  reply.code(status)
  for (const [name, value] of headersFor(reply.request.raw, answer)) {
    reply.header(name, name === 'vary' ? varyWith(reply.getHeader(name), value) : value)
  }
  if (cookies.length > 0) reply.header('set-cookie', cookies)
  reply.send(body ?? undefined)
}
