import { createServer } from 'node:http'
import express from 'express'
import type { ExchangeReply, SurfaceAuth } from '../../../src/index.js'
import { listen, type RunningHost } from '../../support/hosts/running-host.js'

type Forward = (
  request: express.Request,
  operation: string,
  body?: Readonly<Record<string, unknown>>,
) => Promise<ExchangeReply | null>

/**
 * Calls an operation of the library with the headers of the browser's own request. A form is sent by any site, other
 * than the JSON that the library takes, so the origin is judged before.
 */
function forwarding(auth: SurfaceAuth<'client'>): Forward {
  return async (request, operation, body) => {
    await auth.sessionOf(request, { use: 'action' })
    const bytes = body && Buffer.from(JSON.stringify(body))
    const own: Readonly<Record<string, string>> = { 'content-type': 'application/json' }
    return auth.handle({
      method: 'POST',
      path: `/v1/auth/client/${operation}`,
      query: '',
      header: (name) => own[name] ?? request.get(name),
      remoteAddress: request.socket.remoteAddress,
      body: async () => (bytes === undefined ? { kind: 'empty' } : { kind: 'bytes', bytes }),
    })
  }
}

/** Pages and forms without any script: sign in, a page, a button that stays signed in, sign out. */
export function scriptFreeHost(auth: SurfaceAuth<'client'>): Promise<RunningHost> {
  const forward = forwarding(auth)
  const app = express().use(express.urlencoded())

  app.get('/', async (request, response) => {
    const session = await auth.sessionOf(request, { use: 'page' })
    response.set('cache-control', 'private, no-store')
    response.send(session === null ? '<a href="/login">Sign in</a>' : `Hello, ${session.user.name}`)
  })
  app.post('/notes', async (request, response) => {
    const session = await auth.sessionOf(request, { use: 'action' })
    response.status(session === null ? 401 : 201).end(session?.user.id)
  })
  for (const [path, operation] of [
    ['/login', 'login'],
    ['/stay', 'refresh-cookie'],
    ['/logout', 'logout'],
  ] as const) {
    app.post(path, async (request, response) => {
      // Throws for what another site posts. The other two judge that themselves.
      if (operation === 'login') await auth.sessionOf(request, { use: 'action' })
      const reply = await forward(
        request,
        operation,
        operation === 'login' ? request.body : undefined,
      )
      for (const cookie of reply?.cookies ?? []) response.append('set-cookie', cookie)
      const isDone = reply !== null && reply.status < 300
      response.redirect(303, isDone ? '/' : `/login?status=${reply?.status}`)
    })
  }
  return listen(createServer(app))
}

/** What a browser keeps of cookies, by name. */
export function cookieJar() {
  const kept = new Map<string, string>()
  return {
    store(lines: readonly string[]): void {
      for (const line of lines) {
        const [, name = '', value = '', rest = ''] = /^([^=]+)=([^;]*)(.*)$/.exec(line) ?? []
        if (rest.includes('Max-Age=0')) kept.delete(name)
        else kept.set(name, value)
      }
    },
    header: (): string => [...kept].map(([name, value]) => `${name}=${value}`).join('; '),
    names: (): readonly string[] => [...kept.keys()],
  }
}
