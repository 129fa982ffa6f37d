import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { randomOf } from '../reliability/random-of.js'
import { isChromiumMissing, visitors } from '../support/hosts/browser.js'
import { type FrontEndHost, frontEndHost, pageScript, type Weather } from './front-end-host.js'

const isFull = process.env['TABS'] === 'full'
/** `TABS=full` is the long form: outages as long as they get, and a hundred rotations. */
const sizes = isFull
  ? { rounds: 80, refusedMs: 30_000, rotations: 100 }
  : { rounds: 14, refusedMs: 6000, rotations: 16 }
const lostMs = 6000
const seed = Number(process.env['SEED'] ?? 17)

const { arrive } = visitors()
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

interface Run {
  readonly host: FrontEndHost
  readonly tabs: readonly Page[]
  readonly random: () => number
  /** What user actions came to that were not done. */
  readonly failed: string[]
}

/** A user reads something; null where the page went away meanwhile. */
async function act(page: Page): Promise<string | null> {
  try {
    return await page.evaluate<string>('action()')
  } catch {
    return null
  }
}

async function restored(page: Page): Promise<void> {
  await page.evaluate('client.restore().then(() => null, () => null)').catch(() => null)
}

/** All tabs act, some are reloaded amid it. */
async function round({ host, tabs, random, failed }: Run): Promise<void> {
  await Promise.all(
    tabs.map(async (page) => {
      const isReloaded = random() < 0.3
      const afterMs = random() * 450
      await pause(random() * 300)
      const { weather } = host
      const action = act(page)
      if (isReloaded) {
        await pause(afterMs)
        await page.reload().catch(() => null)
        await restored(page)
      }
      const outcome = await action
      if (outcome !== null && outcome !== '200' && weather === 'fair') failed.push(outcome)
    }),
  )
}

/** Time goes on by most of a token's life, while nothing is under way. */
async function skip({ host, tabs }: Run): Promise<void> {
  await expect.poll(() => host.open()).toBe(0)
  host.skip(56_000)
  for (const page of tabs) {
    await page.evaluate(`localStorage.setItem('skipped', '${host.skipped()}')`)
  }
}

/** Users go on through an outage. What begins two seconds after it has to succeed. */
async function outage(run: Run, weather: Weather, forMs: number): Promise<void> {
  const { host, tabs } = run
  await skip(run)
  host.weather = weather
  const end = Date.now() + forMs
  const going = tabs.map(async (page) => {
    while (Date.now() < end) {
      await act(page)
      await pause(300)
    }
  })
  await pause(forMs)
  host.weather = 'fair'
  await Promise.all([...going, pause(2000)])
  await round(run)
}

async function started(): Promise<Run> {
  const host = await frontEndHost()
  const context = await arrive()
  await context.addInitScript(await pageScript(host))
  const [app, shop] = host.origins
  const tabs = await Promise.all(
    [app, app, shop].map(async (origin) => {
      const page = await context.newPage()
      await page.goto(origin)
      return page
    }),
  )
  const { email, password } = host
  const [first] = tabs
  await first?.evaluate(`client.call('POST /login', ${JSON.stringify({ email, password })})`)
  for (const page of tabs) await page.evaluate('client.restore()')
  for (const page of tabs) await page.evaluate('ends.splice(0)')
  return { host, tabs, random: randomOf(`tabs in a browser ${seed}`), failed: [] }
}

describe.skipIf(isChromiumMissing)('two tabs and two origins, chromium', () => {
  it(`stay signed in through reloads and outages, and every action is done, seed ${seed}`, async () => {
    const run = await started()
    const { host, tabs, failed } = run
    const troubles = [
      () => outage(run, 'lost', lostMs),
      () => outage(run, 'refused', sizes.refusedMs),
    ]
    for (let at = 0; at < sizes.rounds; at += 1) {
      await skip(run)
      await round(run)
      if (at % Math.floor(sizes.rounds / 2) === 3) await troubles.shift()?.()
    }
    const states = await Promise.all(tabs.map((page) => page.evaluate('client.get().status')))
    const ends = await Promise.all(tabs.map((page) => page.evaluate('ends')))
    console.log(`seed ${seed}: ${host.rotations()} rotations, ${failed.length} actions failed`)
    expect({ states, ends, failed }).toEqual({
      states: tabs.map(() => 'signedIn'),
      ends: tabs.map(() => []),
      failed: [],
    })
    expect(host.rotations()).toBeGreaterThanOrEqual(sizes.rotations)
    expect(troubles).toEqual([])
  }, 600_000)
})
