import { createServer } from 'node:http'
import express from 'express'
import express4 from 'express4'
import fastify from 'fastify'
import Koa from 'koa'
import Koa2 from 'koa2'
import { expressGuards, expressRouter } from '../../../adapters/express.js'
import { fastifyGuards, fastifyRouter } from '../../../adapters/fastify.js'
import { fetchGuards, fetchHandler } from '../../../adapters/fetch.js'
import { koaGuards, koaRouter } from '../../../adapters/koa.js'
import type { NativeGuards } from '../../../adapters/shared/native-guards.js'
import type { Principal } from '../../../src/domain/context/actor.js'
import type { RouteGuarded } from '../../../src/http/http-message.js'
import type { Auth } from '../../../src/setup/auth.js'
import type { Framework } from '../../shelves.js'
import { fetchServer, koaServer } from '../../support/hosts/frameworks.js'
import { listen, type RunningHost } from '../../support/hosts/running-host.js'

interface Route<H, R> {
  readonly path: string
  readonly guards: readonly H[]
  readonly principalOf: (request: R) => Principal
}

type Make<H, R> = <P, A extends string>(surface: RouteGuarded<P, A>) => NativeGuards<P, A, H, R>

/** What stands in front of which route of the host's, on either surface. */
function routesOf<H, R>(auth: Auth, make: Make<H, R>): readonly Route<H, R>[] {
  const operator = make(auth.operator)
  const machines = [operator.requireAudience('service')]
  return [
    ...surfaceRoutes('/operator', operator),
    ...surfaceRoutes('/client', make(auth.client)),
    { path: '/operator/machines', guards: machines, principalOf: operator.principalOf },
  ]
}

function surfaceRoutes<H, R>(
  prefix: string,
  guards: NativeGuards<Principal, never, H, R>,
): readonly Route<H, R>[] {
  const lists: Readonly<Record<string, readonly H[]>> = {
    '/user': [guards.requireUser()],
    '/token': [guards.requireAudience()],
    '/permission': [guards.requirePermission('orders.refund')],
    '/proof': [guards.requireStepUp({ maxAge: '5m' })],
    '/usual-proof': [guards.requireStepUp()],
    '/everything': [
      guards.requireAudience(),
      guards.requireUser(),
      guards.requirePermission('orders.read'),
      guards.requirePermission('orders.refund'),
      guards.requireStepUp({ maxAge: '5m' }),
    ],
  }
  const { principalOf } = guards
  return Object.entries(lists).map(([path, list]) => ({
    path: prefix + path,
    guards: list,
    principalOf,
  }))
}

const seen = ({ surface, userId, kind }: Principal) => ({ surface, userId, kind })

/** A host with the library's routes and guarded ones of its own, which tell who was let in. */
type ServeGuarded = (auth: Auth) => Promise<RunningHost>

export const guardedHosts: Readonly<Record<Framework, ServeGuarded>> = {
  express(auth) {
    const app = express().use(expressRouter(auth.both))
    for (const { path, guards, principalOf } of routesOf(auth, expressGuards)) {
      app.get(path, ...guards, (request, response) => {
        response.json(seen(principalOf(request)))
      })
    }
    return listen(createServer(app))
  },

  'express 4'(auth) {
    const app = express4().use(expressRouter(auth.both))
    for (const { path, guards, principalOf } of routesOf(auth, expressGuards)) {
      app.get(path, ...guards, (request, response) => {
        response.json(seen(principalOf(request)))
      })
    }
    return listen(createServer(app))
  },

  async fastify(auth) {
    const app = fastify()
    await app.register(fastifyRouter(auth.both))
    for (const { path, guards, principalOf } of routesOf(auth, fastifyGuards)) {
      app.get(path, { onRequest: [...guards] }, async (request) => seen(principalOf(request)))
    }
    await app.ready()
    return listen(app.server)
  },

  koa(auth) {
    const app = new Koa().use(koaRouter(auth.both))
    for (const { path, guards, principalOf } of routesOf(auth, koaGuards)) {
      for (const guard of guards) {
        app.use((context, next) => (context.path === path ? guard(context, next) : next()))
      }
      app.use((context, next) => {
        if (context.path !== path) return next()
        context.body = seen(principalOf(context))
        return undefined
      })
    }
    return listen(koaServer(app))
  },

  'koa 2'(auth) {
    const app = new Koa2().use(koaRouter(auth.both))
    for (const { path, guards, principalOf } of routesOf(auth, koaGuards)) {
      for (const guard of guards) {
        app.use((context, next) => (context.path === path ? guard(context, next) : next()))
      }
      app.use((context, next) => {
        if (context.path !== path) return next()
        context.body = seen(principalOf(context))
        return undefined
      })
    }
    return listen(koaServer(app))
  },

  fetch(auth) {
    const handle = fetchHandler(auth.both)
    const routes = routesOf(auth, fetchGuards)
    return listen(
      fetchServer(async (request, context) => {
        const route = routes.find(({ path }) => path === new URL(request.url).pathname)
        if (route === undefined) return handle(request, context)
        for (const guard of route.guards) {
          const refusal = await guard(request, context)
          if (refusal !== null) return refusal
        }
        return Response.json(seen(route.principalOf(request)))
      }),
    )
  },
}
