import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import express from 'express'
import express4 from 'express4'
import fastify from 'fastify'
import Koa from 'koa'
import Koa2 from 'koa2'
import { expressRouter } from '../../../adapters/express.js'
import { fastifyRouter } from '../../../adapters/fastify.js'
import { fetchHandler } from '../../../adapters/fetch.js'
import { koaRouter } from '../../../adapters/koa.js'
import type { Mountable } from '../../../src/http/request/exchange.js'
import { listen, type RunningHost } from './running-host.js'

type Serve = (mountable: Mountable) => Promise<RunningHost>

/** A host of nothing but the library's routes in every framework it is for, by name. */
export const frameworks = {
  express: (mountable) => listen(createServer(express().use(expressRouter(mountable)))),
  'express 4': (mountable) => listen(createServer(express4().use(expressRouter(mountable)))),
  async fastify(mountable) {
    const app = fastify()
    app.setNotFoundHandler((_request, reply) => reply.code(404).send('host page'))
    await app.register(fastifyRouter(mountable))
    await app.ready()
    return listen(app.server)
  },
  koa: (mountable) => listen(koaServer(new Koa().use(koaRouter(mountable)))),
  'koa 2': (mountable) => listen(koaServer(new Koa2().use(koaRouter(mountable)))),
  fetch: (mountable) => listen(fetchServer(fetchHandler(mountable))),
} as const satisfies Readonly<Record<string, Serve>>

export type Framework = keyof typeof frameworks

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
