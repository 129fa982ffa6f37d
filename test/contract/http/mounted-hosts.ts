import { createServer } from 'node:http'
import { bodyParser } from '@koa/bodyparser'
import express from 'express'
import express4 from 'express4'
import fastify, { type FastifyInstance } from 'fastify'
import Koa from 'koa'
import mount from 'koa-mount'
import Koa2 from 'koa2'
import { expressRouter } from '../../../adapters/express.js'
import { fastifyRouter } from '../../../adapters/fastify.js'
import { koaRouter } from '../../../adapters/koa.js'
import type { Mountable } from '../../../src/http/http-message.js'
import { koaServer } from '../../support/hosts/frameworks.js'
import { listen, type RunningHost } from '../../support/hosts/running-host.js'

/** What is mounted under which prefix; the empty one is the root. */
type Mounts = Readonly<Record<string, Mountable>>

/**
 * A host with routes of its own: `POST /echo` answers its body, `GET /v1/other` the word `mine`, and
 * any other path `page`. Every reply sets the cookie `host` and the header `x-host`, and varies by one more.
 */
interface MountedHost {
  readonly name: string
  /** The text of a 404. */
  readonly page: string
  serve(mounts: Mounts): Promise<RunningHost>
}

const page = 'host page'

function serveExpress(mounts: Mounts): Promise<RunningHost> {
  const app = express().use((_request, response, next) => {
    response.set({ 'x-host': 'yes', vary: 'Accept' }).cookie('host', '1')
    next()
  })
  for (const [prefix, mountable] of Object.entries(mounts)) {
    // One router in another: prefixes add up.
    const [first = '', ...rest] = prefix.split('/').slice(1)
    app.use(`/${first}`, express.Router().use(`/${rest.join('/')}`, expressRouter(mountable)))
  }
  app.post('/echo', express.json(), (request, response) => void response.json(request.body))
  app.get('/v1/other', (_request, response) => void response.send('mine'))
  app.use((_request, response) => void response.status(404).send(page))
  return listen(createServer(app))
}

function serveExpress4(mounts: Mounts): Promise<RunningHost> {
  const app = express4().use((_request, response, next) => {
    response.set({ 'x-host': 'yes', vary: 'Accept' }).cookie('host', '1')
    next()
  })
  for (const [prefix, mountable] of Object.entries(mounts)) {
    app.use(prefix === '' ? '/' : prefix, expressRouter(mountable))
  }
  app.post('/echo', express4.json(), (request, response) => void response.json(request.body))
  app.get('/v1/other', (_request, response) => void response.send('mine'))
  app.use((_request, response) => void response.status(404).send(page))
  return listen(createServer(app))
}

type Register = (app: FastifyInstance, prefix: string, mountable: Mountable) => unknown

async function serveFastify(mounts: Mounts, register: Register): Promise<RunningHost> {
  const app = fastify()
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({ 'x-host': 'yes', vary: 'Accept', 'set-cookie': 'host=1' })
  })
  app.setNotFoundHandler((_request, reply) => reply.code(404).send(page))
  for (const [prefix, mountable] of Object.entries(mounts)) await register(app, prefix, mountable)
  app.post('/echo', (request, reply) => reply.send(request.body))
  app.get('/v1/other', (_request, reply) => reply.send('mine'))
  await app.ready()
  return listen(app.server)
}

const direct: Register = (app, prefix, mountable) =>
  app.register(fastifyRouter(mountable), { prefix })

/** Within a plugin of the host's, whose prefix adds up with the router's and has a parameter. */
const nested: Register = (app, prefix, mountable) => {
  const [first = '', ...rest] = prefix.split('/').slice(1)
  const outer = first === 'identity' ? '/:identity(^identity$)' : `/${first}`
  app.register(
    async (inner) => {
      await inner.register(fastifyRouter(mountable), {
        prefix: rest.map((part) => `/${part}`).join(''),
      })
    },
    { prefix: first === '' ? '' : outer },
  )
}

/** What is used of either Koa's context. */
interface KoaContext {
  readonly path: string
  body: unknown
  readonly request: { readonly rawBody?: string | undefined }
  set(name: string, value: string): void
  append(name: string, value: string): void
}

type Next = () => Promise<unknown>

const beforeKoa = (context: KoaContext, next: Next): Promise<unknown> => {
  context.set('x-host', 'yes')
  context.set('vary', 'Accept')
  context.append('set-cookie', 'host=1')
  return next()
}

const afterKoa = (context: KoaContext): void => {
  if (context.path === '/echo') context.body = context.request.rawBody
  if (context.path === '/v1/other') context.body = 'mine'
}

function serveKoa(handlers: readonly Koa.Middleware[]): Promise<RunningHost> {
  const app = new Koa().use(beforeKoa)
  for (const handler of handlers) app.use(handler)
  return listen(koaServer(app.use(bodyParser()).use(afterKoa)))
}

function serveKoa2(handlers: readonly Koa2.Middleware[]): Promise<RunningHost> {
  const app = new Koa2().use(beforeKoa)
  for (const handler of handlers) app.use(handler)
  const parser: Koa2.Middleware = async (context, next) => {
    const chunks: Buffer[] = []
    for await (const chunk of context.req) chunks.push(chunk)
    Reflect.set(context.request, 'rawBody', Buffer.concat(chunks).toString())
    await next()
  }
  return listen(koaServer(app.use(parser).use(afterKoa)))
}

const byOption = (mounts: Mounts) =>
  Object.entries(mounts).map(([prefix, mountable]) => koaRouter(mountable, { prefix }))

const byKoaMount = (mounts: Mounts) =>
  Object.entries(mounts).map(([prefix, mountable]): Koa.Middleware => {
    const routes: Koa.Middleware = koaRouter(mountable)
    return mount(prefix || '/', routes)
  })

export const mountedHosts: readonly MountedHost[] = [
  { name: 'express', page, serve: serveExpress },
  { name: 'express 4', page, serve: serveExpress4 },
  { name: 'fastify', page, serve: (mounts) => serveFastify(mounts, direct) },
  { name: 'fastify, within a plugin', page, serve: (mounts) => serveFastify(mounts, nested) },
  { name: 'koa', page: 'Not Found', serve: (mounts) => serveKoa(byOption(mounts)) },
  {
    name: 'koa with koa-mount',
    page: 'Not Found',
    serve: (mounts) => serveKoa(byKoaMount(mounts)),
  },
  { name: 'koa 2', page: 'Not Found', serve: (mounts) => serveKoa2(byOption(mounts)) },
]
