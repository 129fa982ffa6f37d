import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import type Koa from 'koa'
import type Koa2 from 'koa2'
import type { fetchHandler } from '../../../adapters/fetch.js'
import type { Mountable } from '../../../src/http/http-message.js'
import type { Framework } from '../../shelves.js'
import { listen, type RunningHost } from './running-host.js'

type Serve = (mountable: Mountable) => Promise<RunningHost>

/**
 * A host of nothing but the library's routes in every framework it is for, by name. Each loads its framework at its
 * first use.
 */
export const frameworks = {
  async express(mountable) {
    const [{ default: express }, { expressRouter }] = await Promise.all([
      import('express'),
      import('../../../adapters/express.js'),
    ])
    return listen(createServer(express().use(expressRouter(mountable))))
  },
  async 'express 4'(mountable) {
    const [{ default: express4 }, { expressRouter }] = await Promise.all([
      import('express4'),
      import('../../../adapters/express.js'),
    ])
    return listen(createServer(express4().use(expressRouter(mountable))))
  },
  async fastify(mountable) {
    const [{ default: fastify }, { fastifyRouter }] = await Promise.all([
      import('fastify'),
      import('../../../adapters/fastify.js'),
    ])
    const app = fastify()
    app.setNotFoundHandler((_request, reply) => reply.code(404).send('host page'))
    await app.register(fastifyRouter(mountable))
    await app.ready()
    return listen(app.server)
  },
  async koa(mountable) {
    const [{ default: Koa }, { koaRouter }] = await Promise.all([
      import('koa'),
      import('../../../adapters/koa.js'),
    ])
    return listen(koaServer(new Koa().use(koaRouter(mountable))))
  },
  async 'koa 2'(mountable) {
    const [{ default: Koa2 }, { koaRouter }] = await Promise.all([
      import('koa2'),
      import('../../../adapters/koa.js'),
    ])
    return listen(koaServer(new Koa2().use(koaRouter(mountable))))
  },
  async fetch(mountable) {
    const { fetchHandler } = await import('../../../adapters/fetch.js')
    return listen(fetchServer(fetchHandler(mountable)))
  },
} as const satisfies Readonly<Record<Framework, Serve>>

/** What a Koa application answers with; it sees to its own errors. */
export function koaServer(app: Pick<Koa, 'callback'> | Pick<Koa2, 'callback'>) {
  const answer = app.callback()
  return createServer((request, response) => void answer(request, response))
}

/** A fetch-style host behind Node's server, as Hono's Node adapter would do it. */
export function fetchServer(handle: ReturnType<typeof fetchHandler>) {
  return createServer((incoming, outgoing) => {
    const hasBody = incoming.method !== 'GET' && incoming.method !== 'HEAD'
    const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
      method: incoming.method ?? 'GET',
      headers: Object.entries(incoming.headersDistinct).flatMap(([name, values = []]) =>
        values.map((value): [string, string] => [name, value]),
      ),
      ...(hasBody ? { body: Readable.toWeb(incoming), duplex: 'half' } : {}),
    })
    const remoteAddress = incoming.socket.remoteAddress
    handle(request, remoteAddress === undefined ? {} : { remoteAddress })
      .then(async (response) => {
        const answer = response ?? new Response('host page', { status: 404 })
        outgoing.writeHead(answer.status, [...[...answer.headers].flat()])
        outgoing.end(Buffer.from(await answer.arrayBuffer()))
      })
      .catch(() => outgoing.destroy())
  })
}
