import { onTestFinished } from 'vitest'
import { fetchGuards, fetchHandler } from '../../adapters/fetch.js'
import { createMobileClient, type MobileClient } from '../../src/client/mobile.js'
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.js'
import { type TestAuth, testAuth } from '../support/hosts/test-auth.js'
import { goodPassword } from '../support/people/people.js'

/** What the network does with a request that is sent now. */
export type Weather = 'fair' | 'refused' | 'lost' | 'away'

/** A process of the app. */
export interface AppProcess {
  readonly client: MobileClient<'client'>
  /** What it awaited of the machine so far: `read`, `write` and `fetch`, each before and after it was done. */
  readonly steps: () => readonly string[]
  readonly isGone: () => boolean
}

export interface SimulatedDevice extends Pick<TestAuth, 'auth' | 'events' | 'mailer'> {
  readonly clock: FakeClock
  weather: Weather
  /** True while the storage rejects. */
  isLocked: boolean
  /** Makes the storage reject from the next reply with a refresh token on. */
  locksNext: boolean
  /** What is in storage. */
  readonly stored: () => string | null
  /** The bodies that were sent to `POST /refresh`. */
  readonly refreshes: { readonly refreshToken: string; readonly recognitionId?: string }[]
  /** The access tokens that were sent, each with what was in storage then. */
  readonly used: { readonly token: string; readonly stored: string | null }[]
  /** Refresh tokens by the access token that came with them. */
  readonly pairs: ReadonlyMap<string, string>
  /** Requests to the library that had a cookie or did not ask for tokens in the body. */
  readonly odd: string[]
  /** Starts the app. It is killed at the step of this number, counted from 0. */
  launch(killedAt?: number): AppProcess
  /** Lets time go on while something is under way, and resolves or rejects with it. */
  during<T>(work: Promise<T>): Promise<T>
  /** The same for a process that may be killed amid it: null where it was. */
  unlessKilled<T>(process: AppProcess, work: Promise<T>): Promise<T | null>
  /** Moves time by small steps, and lets the server finish what arrived before time goes on. */
  advance(ms: number): Promise<void>
}

export const baseUrl = 'https://app.example.com'
export const credentials = { email: 'ada@example.org', password: goodPassword }

/** A device with an app, and a host in this process. */
export async function simulatedDevice(
  settings: Readonly<Record<string, unknown>> = {},
): Promise<SimulatedDevice> {
  const clock = fakeClock()
  const { auth, events, mailer } = await testAuth({
    clock,
    settings: { accessTokenTTL: '1m', ...settings },
    surfaces: { operator: { baseUrl: 'https://admin.example.com' }, client: { baseUrl } },
  })
  onTestFinished(() => auth.close())
  for (const email of [credentials.email, 'bob@example.org']) {
    await auth.client.users.create({ email, password: goodPassword, emailVerified: true })
  }
  const handle = fetchHandler(auth.client)
  const { requireUser, principalOf } = fetchGuards(auth.client)
  const guard = requireUser()
  const context = { remoteAddress: '192.0.2.1' }
  let text: string | null = null
  let busy = 0
  const pairs = new Map<string, string>()

  async function answered(request: Request): Promise<Response> {
    busy += 1
    const answer = async () =>
      (await handle(request.clone(), context)) ??
      (await guard(request, context)) ??
      new Response(principalOf(request).userId)
    const response = await answer().finally(() => {
      busy -= 1
    })
    const body = await response.clone().text()
    if (body.includes('"refreshToken"')) {
      const { accessToken, refreshToken } = JSON.parse(body)
      pairs.set(accessToken, refreshToken)
      device.isLocked ||= device.locksNext
    }
    return response
  }

  async function seen(request: Request): Promise<void> {
    const { pathname } = new URL(request.url)
    if (pathname.endsWith('/refresh'))
      device.refreshes.push(JSON.parse(await request.clone().text()))
    const token = request.headers.get('authorization')?.replace('Bearer ', '')
    if (token !== undefined) device.used.push({ token, stored: text })
    const isPlain = request.headers.get('x-token-delivery') === 'body'
    const isOwn = pathname.startsWith('/v1/auth/client/')
    if (isOwn && !(isPlain && request.credentials === 'omit')) device.odd.push(pathname)
  }

  const device: SimulatedDevice = {
    auth,
    events,
    mailer,
    clock,
    weather: 'fair',
    isLocked: false,
    locksNext: false,
    stored: () => text,
    refreshes: [],
    used: [],
    pairs,
    odd: [],
    launch(killedAt = Number.POSITIVE_INFINITY) {
      const steps: string[] = []
      let isGone = false
      const never = () => new Promise<never>(() => {})
      const step = async (name: string) => {
        if (steps.length === killedAt) isGone = true
        if (isGone) return never()
        steps.push(name)
      }
      const usable = () => {
        if (device.isLocked) throw new Error('the keychain is locked')
      }
      const client = createMobileClient({
        surface: 'client',
        baseUrl,
        storage: {
          async read() {
            await step('before read')
            usable()
            const value = text
            await step('after read')
            return value
          },
          async write(value) {
            await step('before write')
            usable()
            text = value
            await step('after write')
          },
        },
        environment: {
          now: clock.now,
          after: (ms, run) => clock.after(ms, () => isGone || run()),
          random: () => 0,
          async fetch(request) {
            const { weather } = device
            await step('before fetch')
            await seen(request)
            if (weather === 'refused') throw new TypeError('Network request failed')
            if (weather === 'away') return new Response('', { status: 503 })
            const response = await answered(request)
            await step('after fetch')
            if (weather === 'lost') throw new TypeError('Network request failed')
            return response
          },
        },
      })
      return { client, steps: () => steps, isGone: () => isGone }
    },
    async during(work) {
      let isOver = false
      const watched = work.finally(() => {
        isOver = true
      })
      watched.catch(() => {})
      while (!isOver) await device.advance(20)
      return watched
    },
    async unlessKilled(process, work) {
      let isOver = false
      const watched = work.finally(() => {
        isOver = true
      })
      watched.catch(() => {})
      while (!isOver && !process.isGone()) await device.advance(20)
      // What the server was doing when the process was killed goes on there.
      await device.advance(20)
      return isOver ? watched : null
    },
    async advance(ms) {
      for (let gone = 0; gone < ms; gone += 20) {
        while (busy > 0) await new Promise((resolve) => setImmediate(resolve))
        await clock.advance(Math.min(20, ms - gone))
      }
    },
  }
  return device
}

/** The alarms of the server that a token was used twice. */
export const alarms = ({ events }: SimulatedDevice) =>
  events.map(({ type }) => type).filter((type) => type === 'refresh.replayDetected')
/** How often the server rotated. */
export const rotations = ({ events }: SimulatedDevice) =>
  events.filter(({ type }) => type === 'refresh.rotated').length
/** What the client keeps. */
export const keptOf = (device: SimulatedDevice) => JSON.parse(device.stored() ?? '{}')

/** An app whose user signed in just now. */
export async function signedIn(device: SimulatedDevice): Promise<AppProcess> {
  const app = device.launch()
  await device.during(app.client.call('POST /mobile/login', credentials))
  device.refreshes.splice(0)
  device.used.splice(0)
  return app
}

/** The same, with an access token that is about to expire. */
export async function due() {
  const device = await simulatedDevice()
  const app = await signedIn(device)
  await device.advance(57_000)
  return { device, ...app }
}

/** What was sent with an access token before the refresh token beside it was written. */
export function usedTooEarly({ used, pairs }: SimulatedDevice) {
  return used.filter(({ token, stored }) => {
    const own = pairs.get(token)
    return own !== undefined && !(stored ?? '').includes(own)
  })
}
