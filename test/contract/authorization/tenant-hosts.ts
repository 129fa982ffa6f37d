import { createServer } from 'node:http'
import express, { type Request as ExpressRequest } from 'express'
import express4 from 'express4'
import fastify, { type FastifyRequest } from 'fastify'
import Koa, { type Context } from 'koa'
import Koa2 from 'koa2'
import { expressGuards, expressRouter } from '../../../adapters/express.js'
import { fastifyGuards, fastifyRouter } from '../../../adapters/fastify.js'
import { fetchGuards, fetchHandler } from '../../../adapters/fetch.js'
import { koaGuards, koaRouter } from '../../../adapters/koa.js'
import type { Auth } from '../../../src/setup/auth.js'
import type { Framework } from '../../shelves.js'
import { fetchServer, koaServer } from '../../support/hosts/frameworks.js'
import { listen, type RunningHost } from '../../support/hosts/running-host.js'

/**
 * A host with the library's routes, and `/tenants/{tenantId}/refunds` of its own on the client
 * surface, which answers with the path's tenant and who was let in.
 */
type ServeTenants = (auth: Auth) => Promise<RunningHost>

const permission = 'orders.refund'
const route = '/tenants/:tenantId/refunds'
const path = /^\/tenants\/([^/]*)\/refunds$/
const tenantIn = (url: string): string | undefined => {
  const [, tenantId] = path.exec(url) ?? []
  return tenantId === undefined ? undefined : decodeURIComponent(tenantId)
}

export const tenantHosts: Readonly<Record<Framework, ServeTenants>> = {
  express(auth) {
    const { requirePermission, principalOf } = expressGuards(auth.client)
    const guard = requirePermission(permission, { tenant: ({ params }) => params['tenantId'] })
    const app = express().use(expressRouter(auth.both))
    app.get(route, guard, (request, response) => {
      response.json({ ...request.params, userId: principalOf(request).userId })
    })
    return listen(createServer(app))
  },

  'express 4'(auth) {
    const { requirePermission, principalOf } = expressGuards(auth.client)
    const tenant = (request: ExpressRequest<{ tenantId: string }>) => request.params.tenantId
    const app = express4().use(expressRouter(auth.both))
    app.get(route, requirePermission(permission, { tenant }), (request, response) => {
      response.json({ ...request.params, userId: principalOf(request).userId })
    })
    return listen(createServer(app))
  },

  async fastify(auth) {
    const { requirePermission, principalOf } = fastifyGuards(auth.client)
    type Routed = FastifyRequest<{ Params: { tenantId: string } }>
    const tenant = async ({ params }: Routed) => params.tenantId
    const app = fastify()
    await app.register(fastifyRouter(auth.both))
    app.get(route, { onRequest: requirePermission(permission, { tenant }) }, async (request) => ({
      ...(request.params as object),
      userId: principalOf(request).userId,
    }))
    await app.ready()
    return listen(app.server)
  },

  koa(auth) {
    return listen(koaServer(withTenants(new Koa(), auth)))
  },

  'koa 2'(auth) {
    return listen(koaServer(withTenants(new Koa2(), auth)))
  },

  fetch(auth) {
    const { requirePermission, principalOf } = fetchGuards(auth.client)
    const tenantOf = (request: Request) => tenantIn(new URL(request.url).pathname)
    const guard = requirePermission(permission, { tenant: tenantOf })
    const handle = fetchHandler(auth.both)
    return listen(
      fetchServer(async (request, context) => {
        const tenantId = tenantOf(request)
        if (tenantId === undefined) return handle(request, context)
        const refusal = await guard(request, context)
        if (refusal !== null) return refusal
        return Response.json({ tenantId, userId: principalOf(request).userId })
      }),
    )
  },
}

function withTenants<App extends Koa | Koa2>(app: App, auth: Auth): App {
  const { requirePermission, principalOf } = koaGuards(auth.client)
  const tenant = (context: Context) => tenantIn(context.path)
  const guard = requirePermission(permission, { tenant })
  app.use(koaRouter(auth.both))
  app.use((context, next) => (path.test(context.path) ? guard(context, next) : next()))
  app.use((context, next) => {
    if (!path.test(context.path)) return next()
    context.body = { tenantId: tenantIn(context.path), userId: principalOf(context).userId }
    return undefined
  })
  return app
}
