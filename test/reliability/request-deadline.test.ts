import { describe, expect, it, onTestFinished } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import type { ExchangeReply } from '../../src/http/http-message.js'
import { fakeClock } from '../../src/testing/fake-clock.js'
import { storedIn } from '../support/hosts/open-host.js'
import { testAuth } from '../support/hosts/test-auth.js'
import { goodPassword } from '../support/people/people.js'
import { instantHasher } from './refusal-rig.js'
import { slowWork } from './slow-backend.js'

/** A host with a person on a store whose speed the test sets, and a login whose body takes its time. */
async function slowHost() {
  const clock = fakeClock()
  const work = slowWork(clock, memory(), instantHasher)
  const hash = { implementation: work.hasher, allowWeakHashesForTests: true } as const
  const fromEvents: Promise<unknown>[] = []
  const host = await testAuth({
    clock,
    backend: work.backend,
    hash,
    sweep: false,
    onEvent: ({ type }) => {
      if (type === 'login.succeeded') fromEvents.push(host.auth.client.audit.ofTarget(id))
    },
  })
  const { id } = await host.auth.client.users.create({
    email: 'ada@example.org',
    password: goodPassword,
    name: 'Ada',
    emailVerified: true,
  })
  await host.auth.close()
  onTestFinished(async () => {
    work.slowDown({ store: 0, hash: 0 })
    await clock.advance(60_000)
    await host.auth.close()
  })

  /** The login's reply, and after how many milliseconds it came. */
  async function login(
    bodyMs = 0,
  ): Promise<{ readonly reply: ExchangeReply; readonly took: number }> {
    const sentAt = clock.now()
    let answered: { readonly reply: ExchangeReply; readonly took: number } | null = null
    const pending = host.auth.client.handle({
      method: 'POST',
      path: '/v1/auth/client/login',
      query: '',
      header: (name) => (name === 'content-type' ? 'application/json' : undefined),
      remoteAddress: '192.0.2.1',
      async body() {
        if (bodyMs > 0) await new Promise<void>((resolve) => void clock.after(bodyMs, resolve))
        return { kind: 'parsed', value: { email: 'ada@example.org', password: goodPassword } }
      },
    })
    const done = pending.then((reply) => {
      if (reply !== null) answered = { reply, took: clock.now() - sentAt }
    })
    for (let ms = 0; ms < 120_000 && answered === null; ms += 100) await clock.advance(100)
    await done
    if (answered === null) throw new Error('no reply')
    return answered
  }
  return { clock, work, id, login, fromEvents }
}

const codeOf = ({ status, body }: ExchangeReply) =>
  `${status} ${JSON.parse(body ?? '{}').code ?? ''}`

describe('the time of a request', () => {
  it('is over after 15 seconds, however many calls to the store are slow', async () => {
    const { work, login } = await slowHost()
    work.slowDown({ store: 4000, hash: 0 })
    const { reply, took } = await login()
    expect(codeOf(reply)).toBe('503 service_unavailable')
    expect(took).toBeLessThanOrEqual(15_000)
  })

  it('is enough for a login on a store that takes 200 ms, and does not count the body', async () => {
    const { work, login } = await slowHost()
    work.slowDown({ store: 200, hash: 0 })
    expect(codeOf((await login()).reply)).toBe('200 ')
    expect(codeOf((await login(20_000)).reply)).toBe('200 ')
  })

  it('does not bound the work after the reply, nor what the host does for an event', async () => {
    const { clock, work, id, login, fromEvents } = await slowHost()
    // Five calls after each other: what begins at their end has half a second until the request is over.
    work.slowDown({ store: 2900, hash: 0 })
    expect(codeOf((await login()).reply)).toBe('200 ')
    await clock.advance(60_000)
    work.slowDown({ store: 0, hash: 0 })
    const { auditRecords } = storedIn({ backend: work.backend }, 'client')
    const records = await auditRecords.find({ targetId: id }, { limit: 50 })
    expect(records.map(({ action }) => action)).toContain('login.succeeded')
    expect(await Promise.allSettled(fromEvents)).toMatchObject([{ status: 'fulfilled' }])
  })
})
