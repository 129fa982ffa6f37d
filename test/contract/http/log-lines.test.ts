import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type HostOptions, memoryHost } from '../../support/hosts/hosts.js'
import { httpClient } from '../../support/hosts/http-client.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { signedInPerson } from '../../support/people/people.js'
import { type FaultyBackend, faultyBackend } from '../../support/stores/faulty-backend.js'
import { renderingHosts } from '../sessions/rendering-hosts.js'

type Serve = (typeof renderingHosts)[keyof typeof renderingHosts]

/** A host with the default logger, whose denylist fails from now on, and a user who is signed in. */
async function open(serve: Serve, options: HostOptions = {}) {
  const written: string[] = []
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    written.push(String(chunk))
    return true
  })
  let store: FaultyBackend | undefined
  const host = await memoryHost.start({
    ...withoutLimits,
    printsLog: true,
    wrapBackend: (backend) => {
      store = faultyBackend(backend)
      return store.backend
    },
    ...options,
  })
  const running = await serve(host.auth)
  onTestFinished(async () => {
    stderr.mockRestore()
    await running.close()
    await host.close()
  })
  const user = await signedInPerson(host, 'client')
  store?.failNext('denylist.find', 'before', Number.POSITIVE_INFINITY)
  const send = httpClient(running.url)
  /** Asks where the denylist is asked, and gives the lines of that. */
  const ask = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
    written.splice(0)
    const { bearer, cookie } = user
    const shown = path === '/host/client/page' ? { cookie } : { bearer }
    expect((await send('GET', path, { ...shown, headers })).status).toBe(503)
    return written.map((line): Record<string, unknown> => JSON.parse(line))
  }
  return { host, ask }
}

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const both = { 'x-request-id': 'from-the-proxy', traceparent }
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7/

describe.each(Object.entries(renderingHosts))(
  'lines of the default logger on %s',
  (_name, serve) => {
    it.each([
      ['/v1/auth/client/me', 'getMe'],
      ['/required', 'optionalUser'],
      ['/host/client/page', 'sessionOf'],
    ])('tell time, operation and request id: %s', async (path, operation) => {
      const { host, ask } = await open(serve)
      const lines = [...(await ask(path)), ...(await ask(path, both))]
      const time = new Date(host.clock.now()).toISOString()
      const message = 'the store failed: denylist.find'
      expect(lines).toMatchObject(
        lines.map(() => ({ time, level: 'error', source: 'postern', operation, message })),
      )
      // An id for each request, which no caller chooses.
      const ids = new Set(lines.map(({ requestId }) => requestId))
      expect(ids.size).toBe(2)
      for (const id of ids) expect(id).toMatch(uuid)
    })

    it('take the id from the header that the host names', async () => {
      const named = async (requestIdHeader: 'x-request-id' | 'traceparent') => {
        const { ask } = await open(serve, { requestIdHeader })
        const [line] = await ask('/v1/auth/client/me', both)
        const [other] = await ask('/v1/auth/client/me', { [requestIdHeader]: 'not "valid"' })
        expect(other?.['requestId']).toMatch(uuid)
        return line?.['requestId']
      }
      expect(await named('x-request-id')).toBe('from-the-proxy')
      expect(await named('traceparent')).toBe('0af7651916cd43dd8448eb211c80319c')
    })
  },
)

it.each<[string, HostOptions, object]>([
  ['messages and fields as they are', {}, {}],
  [
    'the operation and the id too where a header is named',
    { requestIdHeader: 'x-request-id' },
    { operation: 'getMe', requestId: 'from-the-proxy' },
  ],
])('a logger of the host gets %s', async (_what, options, request) => {
  const store: FaultyBackend[] = []
  const host = await memoryHost.start({
    ...withoutLimits,
    ...options,
    wrapBackend: (backend) => {
      store.push(faultyBackend(backend))
      return store[0]?.backend ?? backend
    },
  })
  onTestFinished(() => host.close())
  const { bearer } = await signedInPerson(host, 'client')
  const before = host.logger.lines.length
  store[0]?.failNext('denylist.find', 'before')
  const reply = await host.send('GET', '/v1/auth/client/me', { bearer, headers: both })
  expect(reply.status).toBe(503)
  expect(host.logger.lines.slice(before)).toEqual([
    {
      level: 'error',
      message: 'the store failed: denylist.find',
      fields: {
        ...request,
        error: 'Error',
        at: expect.stringMatching(/^[\w.-]+\.[jt]s:\d+:\d+$/),
      },
    },
  ])
})
