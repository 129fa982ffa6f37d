import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import express from 'express'
import { onTestFinished } from 'vitest'
import { expressRouter } from '../../../adapters/express.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { certificateFor } from '../../support/hosts/certificate.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { httpClient } from '../../support/hosts/http-client.js'
import { listen } from '../../support/hosts/running-host.js'
import { type TestOptions, testAuth } from '../../support/hosts/test-auth.js'

interface Scheme {
  /** `https:`, by a certificate of its own, so that cookies are what they are in production. */
  readonly secure?: boolean
}

/**
 * A host that a browser reaches, both surfaces at `url`, which is `http://localhost:<port>`: where
 * browsers grant what they otherwise grant to `https:` alone. Its clock starts now, because browsers
 * and others it talks to have the machine's. Any other address is an empty page. Closed with the test.
 */
export async function browserHost(
  optionsAt: (url: string) => TestOptions | Promise<TestOptions> = () => ({}),
  { secure = false }: Scheme = {},
): Promise<ContractHost> {
  // The address has to be known before there is anything to serve.
  let serve: RequestListener = (_request, response) => response.writeHead(503).end()
  const latest: RequestListener = (request, response) => serve(request, response)
  const plain = await listen(createHttpServer(latest))
  const safe = secure
    ? await listen(createHttpsServer(await certificateFor('localhost'), latest))
    : null
  const { port } = new URL(safe?.url ?? plain.url)
  const url = `${secure ? 'https' : 'http'}://localhost:${port}`
  const clock = fakeClock(Date.now())
  const surfaces = { operator: { baseUrl: url }, client: { baseUrl: url } }
  const t = await testAuth({ surfaces, clock, ...(await optionsAt(url)) })
  const app = express()
  app.use(expressRouter(t.auth.both))
  app.use((_request, response) => response.type('html').send('<!doctype html><title>host</title>'))
  serve = app
  const host = {
    ...t,
    clock,
    url,
    send: httpClient(plain.url),
    async close() {
      await Promise.all([plain.close(), safe?.close()])
      await t.auth.close()
    },
  }
  onTestFinished(() => host.close())
  return host
}
