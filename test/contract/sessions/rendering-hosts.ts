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
import { AuthError } from '../../../src/errors/index.js'
import type { Principal, RequestHead } from '../../../src/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { Auth } from '../../../src/setup/auth.js'
import type { Framework } from '../../shelves.js'
import { fetchServer, koaServer } from '../../support/hosts/frameworks.js'
import { listen, type RunningHost } from '../../support/hosts/running-host.js'

/** What a page of the host says, as JSON that a test can read. */
interface Rendered {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const ours = /^\/host\/(operator|client)\/(page|connection|action|mint)$/

/** Answers `/host/{surface}/{use}` with what `sessionOf` says of the framework's own request; null for other paths. */
async function rendered(
  auth: Auth,
  path: string,
  request: RequestHead,
  remoteAddress?: string,
): Promise<Rendered | null> {
  const [, surface, use] = ours.exec(path) ?? []
  if (surface === undefined) return null
  try {
    const session = await sessionFor(auth, surface as Surface, use as Use)(request, remoteAddress)
    const headers = { 'content-type': 'application/json', ...session?.headers }
    return { status: 200, headers, body: JSON.stringify(session) }
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
    const { status, code } = error
    const headers = { 'content-type': 'application/problem+json' }
    return { status, headers, body: JSON.stringify({ status, code }) }
  }
}

type Use = 'page' | 'connection' | 'action' | 'mint'

function sessionFor(auth: Auth, surface: Surface, use: Use) {
  return (request: RequestHead, remoteAddress: string | undefined) => {
    const { sessionOf } = auth[surface]
    if (use === 'page') return sessionOf(request, { use, remoteAddress })
    if (use === 'connection') return sessionOf(request, { use, remoteAddress })
    if (use === 'action') return sessionOf(request, { use, remoteAddress })
    return sessionOf(request, { use: 'action', mint: true, remoteAddress })
  }
}

const named = (principal: Principal | null) => ({ user: principal?.userId ?? null })

/**
 * A host that renders pages of its own beside the library's routes, and has two routes behind guards: `/optional`
 * says who it is, or null, and `/required` wants a person; both on the client surface.
 */
export const renderingHosts: Readonly<Record<Framework, (auth: Auth) => Promise<RunningHost>>> = {
  express(auth) {
    const { optionalUser, requireUser, userOf } = expressGuards(auth.client)
    const app = express().use(expressRouter(auth.both))
    app.use((request, response, next) => {
      rendered(auth, request.path, request)
        .then((page) => {
          if (page === null) next()
          else response.status(page.status).set(page.headers).send(page.body)
        })
        .catch(next)
    })
    app.get('/optional', optionalUser(), (request, response) => {
      response.json(named(userOf(request)))
    })
    app.get('/required', optionalUser(), requireUser(), (request, response) => {
      response.json(named(userOf(request)))
    })
    return listen(createServer(app))
  },

  'express 4'(auth) {
    const { optionalUser, requireUser, userOf } = expressGuards(auth.client)
    const app = express4().use(expressRouter(auth.both))
    app.use((request, response, next) => {
      rendered(auth, request.path, request)
        .then((page) => {
          if (page === null) next()
          else response.status(page.status).set(page.headers).send(page.body)
        })
        .catch(next)
    })
    app.get('/optional', optionalUser(), (request, response) => {
      response.json(named(userOf(request)))
    })
    app.get('/required', optionalUser(), requireUser(), (request, response) => {
      response.json(named(userOf(request)))
    })
    return listen(createServer(app))
  },

  async fastify(auth) {
    const { optionalUser, requireUser, userOf } = fastifyGuards(auth.client)
    const app = fastify()
    await app.register(fastifyRouter(auth.both))
    app.all('/host/*', async (request, reply) => {
      const page = await rendered(auth, request.url, request.raw)
      return reply
        .code(page?.status ?? 404)
        .headers(page?.headers ?? {})
        .send(page?.body)
    })
    app.get('/optional', { onRequest: optionalUser() }, async (request) => named(userOf(request)))
    const both = [optionalUser(), requireUser()]
    app.get('/required', { onRequest: both }, async (request) => named(userOf(request)))
    await app.ready()
    return listen(app.server)
  },

  koa: (auth) => listen(koaServer(koaApp(new Koa(), auth))),
  'koa 2': (auth) => listen(koaServer(koaApp(new Koa2(), auth))),

  fetch(auth) {
    const handle = fetchHandler(auth.both)
    const { optionalUser, requireUser, userOf } = fetchGuards(auth.client)
    const guards = { '/optional': [optionalUser()], '/required': [optionalUser(), requireUser()] }
    return listen(
      fetchServer(async (request, context) => {
        const { pathname } = new URL(request.url)
        const page = await rendered(auth, pathname, request, context?.remoteAddress)
        if (page !== null) return new Response(page.body, page)
        const wanted = Object.entries(guards).find(([path]) => path === pathname)?.[1]
        if (wanted === undefined) return handle(request, context)
        for (const guard of wanted) {
          const refusal = await guard(request, context)
          if (refusal !== null) return refusal
        }
        return Response.json(named(userOf(request)))
      }),
    )
  },
}

function koaApp<T extends Koa | Koa2>(app: T, auth: Auth): T {
  const { optionalUser, requireUser, userOf } = koaGuards(auth.client)
  app.use(koaRouter(auth.both))
  app.use(async (context, next) => {
    const page = await rendered(auth, context.path, context.req)
    if (page === null) return next()
    context.body = page.body
    context.status = page.status
    context.set(page.headers)
    return undefined
  })
  const guards = { '/optional': [optionalUser()], '/required': [optionalUser(), requireUser()] }
  for (const [path, list] of Object.entries(guards)) {
    for (const guard of list) {
      app.use((context, next) => (context.path === path ? guard(context, next) : next()))
    }
    app.use((context, next) => {
      if (context.path !== path) return next()
      context.body = named(userOf(context))
      return undefined
    })
  }
  return app
}
