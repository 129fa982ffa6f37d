import { describe, expect, it, onTestFinished } from 'vitest'
import { fetchGuards, fetchHandler } from '../../adapters/fetch.js'
import { isPosternError } from '../../src/client/index.js'
import { fakeClock } from '../../src/testing/fake-clock.js'
import { randomOf } from '../reliability/random-of.js'
import { testAuth } from '../support/hosts/test-auth.js'
import { type SimulatedTab, simulatedBrowser, type Weather } from './simulated-browser.js'

const app = 'https://app.example.com'
const other = 'https://shop.example.com'
const password = 'correct horse battery staple'

/** How many of the things that a user does are a reload. */
const reloads = 0.06

/** Two people, a host in this process and a browser before it. */
async function started(seed: number, accessTokenTTL = '1m') {
  const random = randomOf(`tabs ${seed}`)
  const clock = fakeClock()
  const { auth, events } = await testAuth({
    clock,
    settings: { accessTokenTTL, loginRateClient: 1000 },
    surfaces: {
      operator: { baseUrl: 'https://admin.example.com' },
      client: { baseUrl: app, allowedOrigins: [other] },
    },
  })
  onTestFinished(() => auth.close())
  const emails = ['ada@example.org', 'bob@example.org']
  for (const email of emails) {
    await auth.client.users.create({ email, password, emailVerified: true })
  }
  const handle = fetchHandler(auth.client)
  const { requireUser, principalOf } = fetchGuards(auth.client)
  const guard = requireUser()
  const browser = simulatedBrowser(clock, random, async (request) => {
    const context = { remoteAddress: '192.0.2.1' }
    const own = await handle(request, context)
    if (own !== null) return own
    return (await guard(request, context)) ?? new Response(principalOf(request).userId)
  })
  /** Time goes on while something is under way. */
  const during = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false
    const watched = work.finally(() => {
      isOver = true
    })
    watched.catch(() => {})
    while (!isOver) await browser.advance(20)
    return watched
  }
  const login = (tab: SimulatedTab, person: number) =>
    during(tab.client.call('POST /login', { email: emails[person] ?? '', password }))
  return { random, clock, auth, events, browser, during, login }
}

type Started = Awaited<ReturnType<typeof started>>

/** What a user does on a page: reads its data, and sees whose it is. Resolves with how that failed, if it did. */
async function act({ client }: SimulatedTab, wrong: string[]): Promise<string | null> {
  try {
    const before = client.get()
    const response = await client.authFetch(`${app}/orders`)
    if (!response.ok) return String(response.status)
    const seen = await response.text()
    const state = client.get()
    // A page that was told of a change meanwhile leaves what it asked for before.
    if (before === state && state.status === 'signedIn' && seen !== state.user.id) {
      wrong.push('data of another user')
    }
    return null
  } catch (error) {
    if (!isPosternError(error)) throw error
    return error.kind
  }
}

/** Watches for sign-outs, which no run without a sign-out may have. */
function watched(tab: SimulatedTab, ends: string[]): SimulatedTab {
  const watch = () =>
    tab.client.onChange((state) => {
      if (state.status === 'signedOut') ends.push(String(state.reason))
    })
  watch()
  const { reload } = tab
  tab.reload = () => {
    reload()
    watch()
    tab.client.restore().catch(() => {})
  }
  return tab
}

interface Trouble {
  readonly weather: Weather
  readonly forMs: number
}

const fair = { weather: 'fair', forMs: 80_000 } as const

/** One weather: users act, and reload. Resolves with what failed although the network was fair. */
async function spell(
  t: Started,
  tabs: readonly SimulatedTab[],
  { weather, forMs }: Trouble,
  wrong: string[],
): Promise<readonly string[]> {
  const { random, browser, clock } = t
  const failed: string[] = []
  const began = clock.now()
  browser.weather = weather
  while (clock.now() < began + forMs) {
    const tab = tabs[Math.floor(random() * tabs.length)]
    const leftMs = began + forMs - clock.now()
    // A rotation that is done and dropped right before a long outage cannot be repeated in time.
    if (leftMs > 3000 && random() < reloads) tab?.reload()
    else if (tab) {
      const mayFail = weather !== 'fair' || clock.now() - began <= 2000
      void act(tab, wrong).then((how) => {
        // One that was under way when the next outage began may fail by it.
        if (how !== null && !mayFail && browser.weather === 'fair') failed.push(how)
      })
    }
    await browser.advance(Math.min(leftMs, Math.ceil(random() * 4000)))
  }
  return failed
}

/** Minutes of two tabs of one origin and one of another, with reloads and one outage after the other. */
async function minutes(t: Started, tabs: readonly SimulatedTab[], troubles: readonly Trouble[]) {
  const wrong: string[] = []
  const failed: string[] = []
  for (const trouble of [...troubles, fair]) {
    failed.push(...(await spell(t, tabs, fair, wrong)))
    failed.push(...(await spell(t, tabs, trouble, wrong)))
  }
  await t.browser.advance(30_000)
  return { wrong, failed }
}

const troubles: readonly Trouble[] = [
  { weather: 'refused', forMs: 30_000 },
  { weather: 'lost', forMs: 6000 },
  { weather: 'away', forMs: 20_000 },
  { weather: 'lost', forMs: 6000 },
  { weather: 'lost', forMs: 6000 },
  { weather: 'lost', forMs: 6000 },
  { weather: 'lost', forMs: 6000 },
]

describe('tabs of one browser, before the library', () => {
  it.each([1, 2, 3, 4, 5])(
    'stay signed in through reloads, lost replies and outages, seed %i',
    async (seed) => {
      const t = await started(seed)
      const { browser } = t
      const ends: string[] = []
      const tabs = [browser.open(app), browser.open(app), browser.open(other)]
      for (const tab of tabs) watched(tab, ends)
      const [first] = tabs
      if (first === undefined) throw new Error('no tab')
      await t.login(first, 0).catch(() => {})
      ends.splice(0)
      browser.latency = 100
      await t.during(Promise.all(tabs.map(({ client }) => client.restore())))
      const { wrong, failed } = await minutes(t, tabs, troubles)
      expect({ ends, wrong, failed }).toEqual({ ends: [], wrong: [], failed: [] })
      expect(browser.rotations()).toBeGreaterThan(8)
    },
    60_000,
  )
})

describe('tabs of one origin in a long outage', () => {
  it.each(['refused', 'lost'] as const)(
    'send little by themselves, and nothing for ever: %s',
    async (weather) => {
      const t = await started(1)
      const { browser } = t
      const tabs = [browser.open(app), browser.open(app), browser.open(app), browser.open(app)]
      const [first] = tabs
      if (first === undefined) throw new Error('no tab')
      browser.latency = 100
      await t.login(first, 0)
      await browser.advance(55_000)
      browser.weather = weather
      const before = browser.sent()
      void act(first, [])
      await browser.advance(120_000)
      // A rotation is sent ten or eleven times, and each of the other tabs tries once to finish it.
      expect(browser.sent() - before).toBeLessThanOrEqual(4 * 11 + 1)
      const after = browser.sent()
      await browser.advance(120_000)
      expect(browser.sent()).toBe(after)
    },
  )
})

describe('another user in another tab', () => {
  it.each([1, 2, 3, 4])('is never shown beside the first one’s data, seed %i', async (seed) => {
    const t = await started(seed)
    const { browser, random } = t
    const wrong: string[] = []
    const tabs = [browser.open(app), browser.open(app), browser.open(app)]
    browser.latency = 100
    for (let turn = 0; turn < 12; turn += 1) {
      const tab = tabs[turn % 3]
      if (tab === undefined) throw new Error('no tab')
      for (const each of tabs) void act(each, wrong)
      await browser.advance(Math.floor(random() * 300))
      if (random() < 0.25) await t.during(tab.client.call('POST /logout').catch(() => null))
      else await t.login(tab, turn % 2)
      for (const each of tabs) void act(each, wrong)
      await browser.advance(Math.floor(random() * 90_000))
    }
    await browser.advance(30_000)
    const states = new Set(tabs.map(({ client }) => JSON.stringify(client.get())))
    expect({ wrong, states: states.size }).toEqual({ wrong: [], states: 1 })
  })
})

describe('a sign-out', () => {
  it('is learned by every tab, and ends nothing of a login that follows at once', async () => {
    const t = await started(1)
    const { browser } = t
    browser.latency = 100
    const one = browser.open(app)
    const two = browser.open(app)
    await t.login(one, 0)
    await browser.advance(1000)
    expect(two.client.get().status).toBe('signedIn')
    await t.during(one.client.call('POST /logout'))
    await t.login(one, 1)
    await browser.advance(2000)
    const states = [one, two].map(({ client }) => client.get())
    expect(states).toMatchObject(Array(2).fill({ user: { email: 'bob@example.org' } }))
    await t.during(two.client.call('POST /logout'))
    await browser.advance(1000)
    expect(one.client.get()).toEqual({ status: 'signedOut', reason: null })
  })
})

describe('a session that is used once a day', () => {
  it('goes on for three weeks, by GET /session and a rotation in time', async () => {
    const t = await started(1, '15m')
    const { browser, clock } = t
    const tab = watched(browser.open(app), [])
    await t.login(tab, 0)
    for (let day = 0; day < 21; day += 1) {
      await clock.advance(24 * 60 * 60_000)
      tab.reload()
      await browser.advance(1000)
      expect(tab.client.get().status).toBe('signedIn')
    }
    expect(browser.rotations()).toBeLessThan(12)
  })
})
