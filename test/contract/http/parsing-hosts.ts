import { createServer } from 'node:http'
import formbody from '@fastify/formbody'
import multipart from '@fastify/multipart'
import { bodyParser } from '@koa/bodyparser'
import express, { type RequestHandler } from 'express'
import express4 from 'express4'
import fastify, { type FastifyInstance } from 'fastify'
import Koa from 'koa'
import { koaBody } from 'koa-body'
import multer from 'multer'
import { expressRouter } from '../../../adapters/express.js'
import { fastifyRouter } from '../../../adapters/fastify.js'
import { koaRouter } from '../../../adapters/koa.js'
import type { Mountable } from '../../../src/http/http-message.js'
import { koaServer } from '../../support/hosts/frameworks.js'
import { listen, type RunningHost } from '../../support/hosts/running-host.js'

interface ParsingHost {
  readonly name: string
  serve(mountable: Mountable): Promise<RunningHost>
}

function expressWith(name: string, ...parsers: readonly RequestHandler[]): ParsingHost {
  return {
    name: `express and ${name}`,
    serve(mountable) {
      const app = express()
      for (const parser of parsers) app.use(parser)
      return listen(createServer(app.use(expressRouter(mountable))))
    },
  }
}

/** Its parsers leave `{}` behind a body that they do not read. */
function express4With(name: string, ...parsers: readonly express4.RequestHandler[]): ParsingHost {
  return {
    name: `express 4 and ${name}`,
    serve(mountable) {
      const app = express4()
      for (const parser of parsers) app.use(parser)
      return listen(createServer(app.use(expressRouter(mountable))))
    },
  }
}

type Prepare = (app: FastifyInstance) => unknown

function fastifyWith(name: string, before: Prepare, after: Prepare = () => {}): ParsingHost {
  return {
    name: `fastify and ${name}`,
    async serve(mountable) {
      const app = fastify()
      await before(app)
      await app.register(fastifyRouter(mountable))
      await after(app)
      await app.ready()
      return listen(app.server)
    },
  }
}

function koaWith(name: string, ...parsers: readonly Koa.Middleware[]): ParsingHost {
  return {
    name: `koa and ${name}`,
    serve(mountable) {
      const app = new Koa()
      for (const parser of parsers) app.use(parser)
      return listen(koaServer(app.use(koaRouter(mountable))))
    },
  }
}

const asText: Prepare = (app) =>
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))

async function forms(app: FastifyInstance): Promise<void> {
  await app.register(formbody)
  await app.register(multipart, { attachFieldsToBody: true })
}

/** Hosts whose own parsers stand before the library's routes, or around them. */
export const parsingHosts: readonly ParsingHost[] = [
  expressWith('no parser'),
  expressWith('json()', express.json()),
  expressWith('json({ strict: false })', express.json({ strict: false })),
  expressWith('urlencoded()', express.urlencoded()),
  expressWith('text()', express.text()),
  expressWith('text() for any type', express.text({ type: '*/*' })),
  expressWith('raw()', express.raw()),
  expressWith('raw() for any type', express.raw({ type: '*/*', limit: '1mb' })),
  expressWith('multer', multer().any()),
  expressWith('all of them', express.json(), express.urlencoded(), express.text(), multer().any()),
  express4With('json()', express4.json()),
  express4With('urlencoded()', express4.urlencoded({ extended: true })),
  express4With('text() and raw()', express4.text(), express4.raw()),
  fastifyWith('its own parsers', () => {}),
  fastifyWith('no parser', (app) => app.removeAllContentTypeParsers()),
  fastifyWith('parsers for forms', forms),
  fastifyWith('parsers for forms that come later', () => {}, forms),
  fastifyWith('one parser for any type', asText),
  koaWith('no parser'),
  koaWith('bodyParser()', bodyParser()),
  koaWith('bodyParser() for forms alone', bodyParser({ enableTypes: ['form'] })),
  koaWith(
    'bodyParser() for text too',
    bodyParser({ enableTypes: ['json', 'form', 'text'], textLimit: '1mb' }),
  ),
  koaWith('koaBody() with multipart', koaBody({ multipart: true })),
  koaWith('koaBody() on the request of Node', koaBody({ patchNode: true, patchKoa: false })),
]

/** Hosts that read the body and keep it to themselves, as a logger might. */
export const swallowingHosts: readonly ParsingHost[] = [
  expressWith('a reader', (request, _response, next) => void request.on('end', next).resume()),
  express4With('a reader', (request, _response, next) => void request.on('end', next).resume()),
  fastifyWith('a reader', (app) =>
    app.addHook('onRequest', (request, _reply, done) => void request.raw.on('end', done).resume()),
  ),
  koaWith('a reader', async ({ req }, next) => {
    for await (const _chunk of req);
    await next()
  }),
]
