import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import express, { type NextFunction, type Request, type Response } from 'express'
import { onTestFinished } from 'vitest'
import { expressGuards, expressRouter } from '../../adapters/express.js'
import type { Clock } from '../../src/ports/host.js'
import { listen } from '../support/hosts/running-host.js'
import { testAuth } from '../support/hosts/test-auth.js'
import { command } from '../support/package/packed-package.js'

/** What happens to requests that arrive now: they go through, never arrive, or are done and not answered. */
export type Weather = 'fair' | 'refused' | 'lost'

export interface FrontEndHost {
  readonly api: string
  /** Two origins whose pages use the API. */
  readonly origins: readonly [string, string]
  weather: Weather
  /** Rotations so far. */
  readonly rotations: () => number
  /** Moves the server's time on. */
  skip(ms: number): void
  /** Milliseconds that were skipped so far. */
  readonly skipped: () => number
  /** Requests that are not answered yet. */
  readonly open: () => number
  readonly email: string
  readonly password: string
}

const latency = 100

/** Time as the machine has it, and what was skipped. */
function skippingClock(): Clock & { skip(ms: number): void; skipped(): number } {
  let skipped = 0
  return {
    now: () => Date.now() + skipped,
    after(ms, run) {
      const timer = setTimeout(run, ms).unref()
      return () => clearTimeout(timer)
    },
    skip(ms) {
      skipped += ms
    },
    skipped: () => skipped,
  }
}

/** A host whose API is one origin and whose pages are two others of the same site, 200 ms away. */
export async function frontEndHost(): Promise<FrontEndHost> {
  const clock = skippingClock()
  const app = express()
  const { url, close } = await listen(createServer(app))
  const { port } = new URL(url)
  const at = (name: string) => `http://${name}.front.localhost:${port}`
  const origins = [at('app'), at('shop')] as const
  const client = { baseUrl: at('api'), allowedOrigins: [...origins] }
  const { auth } = await testAuth({
    clock,
    settings: { accessTokenTTL: '1m' },
    surfaces: { operator: { baseUrl: at('admin') }, client },
  })
  const email = 'ada@example.org'
  const password = 'correct horse battery staple'
  await auth.client.users.create({ email, password, emailVerified: true })
  let rotations = 0
  let open = 0
  const far = (request: Request, response: Response, next: NextFunction) => {
    if (request.hostname !== 'api.front.localhost') return next()
    const { weather } = host
    open += 1
    response.on('close', () => {
      open -= 1
    })
    const end = response.end.bind(response)
    response.end = (...given: readonly never[]) => {
      if (response.getHeader('x-refresh-outcome') === 'rotated') rotations += 1
      setTimeout(() => (weather === 'lost' ? response.destroy() : end(...given)), latency)
      return response
    }
    setTimeout(() => (weather === 'refused' ? response.destroy() : next()), latency)
  }
  const { requireUser } = expressGuards(auth.client)
  app.use(far, expressRouter(auth.client))
  app.use('/orders', (request, response, next) => {
    response.set('access-control-allow-origin', request.get('origin') ?? '')
    response.set('access-control-allow-headers', 'authorization')
    response.set('access-control-max-age', '600')
    if (request.method === 'OPTIONS') response.status(204).end()
    else next()
  })
  app.get('/orders', requireUser(), (_request, response) => response.json({ orders: [] }))
  app.use((_request, response) => response.type('html').send('<!doctype html><title>app</title>'))
  onTestFinished(async () => {
    await close()
    await auth.close()
  })
  const host: FrontEndHost = {
    api: at('api'),
    origins,
    weather: 'fair',
    rotations: () => rotations,
    skip: clock.skip,
    skipped: clock.skipped,
    open: () => open,
    email,
    password,
  }
  return host
}

/** A script that gives each page of these origins its client, whose time runs as the server's. */
export async function pageScript({ api }: Pick<FrontEndHost, 'api'>): Promise<string> {
  const root = fileURLToPath(new URL('../../', import.meta.url))
  const form = ['--bundle', '--format=iife', '--global-name=postern', '--target=es2022']
  const esbuild = 'node_modules/esbuild/bin/esbuild'
  const { stdout } = await command(root, `${root}${esbuild}`, 'src/client/index.ts', ...form)
  return `${stdout}
    if (location.hostname.endsWith('front.localhost')) {
      const skipped = () => Number(localStorage.getItem('skipped') ?? 0)
      window.ends = []
      window.client = postern.createClient({
        surface: 'client',
        baseUrl: ${JSON.stringify(api)},
        environment: { now: () => Date.now() + skipped() },
      })
      window.client.onChange((state) => state.status === 'signedOut' && window.ends.push(state.reason))
      window.action = () => window.client.authFetch(${JSON.stringify(`${api}/orders`)})
        .then((response) => String(response.status), (error) => error.kind + ' ' + error.message)
    }`
}
