import { describe, expect, it } from 'vitest'
import { createMobileClient, isPosternError, type TokenStorage } from '../../src/client/mobile.js'
import {
  type AppProcess,
  alarms,
  baseUrl,
  credentials,
  due,
  keptOf,
  rotations,
  type SimulatedDevice,
  signedIn,
  simulatedDevice,
  usedTooEarly,
} from './simulated-device.js'

describe('a rotation of an app', () => {
  it.each([
    ['lost', 6000],
    ['lost', 100],
    ['refused', 6000],
    ['refused', 30_000],
    ['away', 6000],
  ] as const)('survives replies that are %s for %i ms', async (weather, ms) => {
    const { device, client } = await due()
    device.weather = weather
    const call = client.call('GET /me').catch((error: { kind: string }) => error.kind)
    await device.advance(ms)
    device.weather = 'fair'
    await device.during(call)
    await device.during(client.call('GET /me'))
    expect([client.get().status, alarms(device), rotations(device)]).toEqual(['signedIn', [], 1])
    expect(usedTooEarly(device)).toEqual([])
  })

  it('waits out a 503 of the library, and keeps the session where it goes on', async () => {
    const { device, client } = await due()
    await device.advance(5000)
    device.weather = 'away'
    await expect(device.during(client.call('GET /me'))).rejects.toMatchObject({ status: 503 })
    device.weather = 'fair'
    await device.during(client.call('GET /me'))
    expect([client.get().status, alarms(device)]).toEqual(['signedIn', []])
  })

  it.each(['refresh', 'GET /me'])('ends nothing by a 401 of a proxy to %s', async (at) => {
    const { device } = await due()
    const answers: Readonly<Record<string, Response>> = {
      refresh: Response.json({ error: 'sign in to the hotel first' }, { status: 401 }),
      'GET /me': new Response('<html>', { status: 401 }),
    }
    const next = createMobileClient({
      surface: 'client',
      baseUrl,
      storage: { read: async () => device.stored(), write: async () => {} },
      environment: {
        fetch: async (request) =>
          request.url.endsWith('/refresh') && at !== 'refresh'
            ? Response.json({ accessToken: 'a.b.c', expiresIn: 60, refreshToken: 'r' })
            : (answers[at]?.clone() ?? Response.error()),
      },
    })
    await expect(next.restore()).rejects.toBeDefined()
    expect(next.get()).toEqual({ status: 'loading' })
    expect(keptOf(device)).toHaveProperty('refreshToken')
  })
})

describe('an app that is killed', () => {
  /** Restores after a while, and uses the session for long enough to rotate again. */
  async function used(device: SimulatedDevice, process: AppProcess) {
    const { client } = process
    await device.during(client.restore())
    await device.advance(57_000)
    await device.during(client.call('GET /me'))
    return client.get().status
  }

  it('at any step of a start goes on within the ten seconds of grace', async () => {
    const whole = await simulatedDevice()
    await signedIn(whole)
    const measured = whole.launch()
    await whole.during(measured.client.restore())
    const steps = measured.steps()
    expect(steps.filter((step) => step === 'after fetch')).toHaveLength(2)
    expect(steps.filter((step) => step === 'after write')).toHaveLength(2)
    for (const at of steps.keys()) {
      const device = await simulatedDevice()
      await signedIn(device)
      const killed = device.launch(at)
      await device.unlessKilled(killed, killed.client.restore())
      expect(killed.isGone()).toBe(true)
      await device.advance(8000)
      const outcome = [await used(device, device.launch()), alarms(device), usedTooEarly(device)]
      expect([at, steps[at], ...outcome]).toEqual([at, steps[at], 'signedIn', [], []])
    }
  }, 60_000)

  it('at any step of a rotation goes on, and twice in a row', async () => {
    for (let at = 0, isDone = false; !isDone; at += 1) {
      const device = await simulatedDevice()
      await signedIn(device)
      const first = device.launch()
      await device.during(first.client.restore())
      await device.advance(57_000)
      const before = first.steps().length
      const killed = device.launch(at)
      expect(before).toBeGreaterThan(0)
      const call = killed.client.restore().then(() => killed.client.call('GET /mfa'))
      await device.unlessKilled(killed, call)
      isDone = !killed.isGone()
      await device.advance(3000)
      const again = device.launch(at)
      await device.unlessKilled(again, again.client.restore())
      await device.advance(3000)
      expect([at, await used(device, device.launch()), alarms(device)]).toEqual([
        at,
        'signedIn',
        [],
      ])
    }
  }, 60_000)

  it('and starts after the grace stays signed in, also where the reply was not written', async () => {
    const ended: string[] = []
    const whole = await simulatedDevice()
    await signedIn(whole)
    const measured = whole.launch()
    await whole.during(measured.client.restore())
    for (const [at, step] of measured.steps().entries()) {
      const device = await simulatedDevice()
      await signedIn(device)
      const killed = device.launch(at)
      await device.unlessKilled(killed, killed.client.restore())
      await device.advance(60_000)
      const { client } = device.launch()
      const state = await device.during(client.restore())
      if (state.status === 'signedOut') ended.push(`${step} ${state.reason}`)
    }
    expect(ended).toEqual([])
  }, 60_000)
})

describe('a storage that fails', () => {
  it('before a rotation leaves the token unused, and the call goes on while it can', async () => {
    const { device, client } = await due()
    device.isLocked = true
    await device.during(client.call('GET /me'))
    expect(device.refreshes).toEqual([])
    await device.advance(4000)
    const failed = device.during(client.call('GET /me'))
    await expect(failed).rejects.toMatchObject({ name: 'PosternError', kind: 'storage' })
    expect(client.get().status).toBe('signedIn')
    device.isLocked = false
    await device.during(client.call('GET /me'))
    expect([rotations(device), alarms(device)]).toEqual([1, []])
  })

  it('after a rotation keeps the new token from use until it is written, however long', async () => {
    const { device, client } = await due()
    await device.advance(5000)
    const call = client.call('GET /me')
    device.locksNext = true
    await expect(device.during(call)).rejects.toMatchObject({ kind: 'storage' })
    expect([device.used, rotations(device)]).toEqual([[], 1])
    await device.advance(30_000)
    device.locksNext = false
    device.isLocked = false
    const again = client.call('GET /me').then(() => 'done', String)
    expect(await device.during(again)).toBe('done')
    expect([client.get().status, alarms(device)]).toEqual(['signedIn', []])
    expect(usedTooEarly(device)).toEqual([])
  })

  it('at a start and at a login rejects, with the state as it was', async () => {
    const device = await simulatedDevice()
    await signedIn(device)
    const { client } = device.launch()
    device.isLocked = true
    const failed: unknown = await device.during(client.restore()).catch((error: unknown) => error)
    expect(isPosternError(failed) && failed.kind).toBe('storage')
    expect(client.get()).toEqual({ status: 'loading' })
    device.isLocked = false
    expect(await device.during(client.restore())).toMatchObject({ status: 'signedIn' })
  })

  it('that was written for another API, or by another program, is nobody’s session', async () => {
    const device = await simulatedDevice()
    await signedIn(device)
    const texts = ['no JSON', '"text"', '{"v":2}', device.stored() ?? '']
    for (const text of texts) {
      const sent: string[] = []
      const storage: TokenStorage = { read: async () => text, write: async () => {} }
      let now = 0
      const environment = {
        now: () => {
          now += 3000
          return now
        },
        after: () => () => {},
        fetch: async ({ url }: Request) => {
          sent.push(url)
          return Response.error()
        },
      }
      const other = createMobileClient({
        surface: 'client',
        baseUrl: 'https://staging.example.com',
        storage,
        environment,
      })
      const state = await other.restore().catch(other.get)
      expect(state).toEqual({ status: 'signedOut', reason: null })
      expect(sent).toEqual([])
    }
  })

  it('that two clients share costs no session', async () => {
    const { device, client } = await due()
    const other = device.launch().client
    await device.during(Promise.all([client.call('GET /me'), other.restore()]))
    const outcomes: string[] = []
    for (let turn = 0; turn < 4; turn += 1) {
      await device.advance(57_000)
      const one = turn % 2 === 0 ? client : other
      const call = one.call('GET /me').then(() => 'done', String)
      outcomes.push(await device.during(call))
    }
    expect(outcomes).toEqual(Array(4).fill('done'))
    expect([client.get().status, other.get().status, alarms(device)]).toEqual([
      'signedIn',
      'signedIn',
      [],
    ])
  })

  it('that another process gave to another user is shown as that user’s, and asks for no restart', async () => {
    const { device, client } = await due()
    const bob = { ...credentials, email: 'bob@example.org' }
    await device.during(device.launch().client.call('POST /mobile/login', bob))
    const call = client.call('GET /me').catch(({ kind }) => kind)
    expect(await device.during(call)).toBe('abort')
    await device.advance(1000)
    expect(client.get()).toMatchObject({ status: 'signedIn', user: { email: bob.email } })
  })
})
