import type {
  ClientChannel,
  ClientEnvironment,
  ClientLocks,
} from '../../src/client/client-environment.js'
import { type AuthClient, createClient } from '../../src/client/index.js'
import type { FakeClock } from '../../src/testing/fake-clock.js'

/** What the network does with a request that is sent now. */
export type Weather = 'fair' | 'refused' | 'lost' | 'away'

export interface SimulatedBrowser {
  /** `refused`: nothing arrives. `lost`: it is carried out, the reply is lost. `away`: 503 of a gateway's. */
  weather: Weather
  /** Milliseconds each way. */
  latency: number
  /** Requests that were sent, whatever the network did with them. */
  readonly sent: () => number
  /** Rotations that the server made. */
  readonly rotations: () => number
  /** Opens a page of this front-end origin. */
  open(origin: string): SimulatedTab
  /** Moves time by steps, and lets the server finish what arrived before time goes on. */
  advance(ms: number): Promise<void>
}

export interface SimulatedTab {
  client: AuthClient<'client'>
  /** The page goes away, amid whatever it does, and comes back. */
  reload(): void
  close(): void
}

/** What is shared by the tabs of one front-end origin. */
interface Origin {
  readonly stored: Map<string, string>
  readonly channels: Set<ClientChannel>
  readonly locks: PageLocks
}

/** Web Locks that go with the page that holds or awaits them. */
class PageLocks {
  #holder: object | null = null
  #waiting: { readonly page: object; readonly run: () => void }[] = []

  of(page: object): ClientLocks {
    return {
      request: (_name, { signal }, work) =>
        new Promise((resolve, reject) => {
          const run = () => {
            this.#holder = page
            work()
              .then(resolve, reject)
              .finally(() => this.#holder === page && this.#next())
          }
          const entry = { page, run }
          signal.addEventListener('abort', () => {
            if (!this.#waiting.includes(entry)) return
            this.#waiting = this.#waiting.filter((other) => other !== entry)
            reject(signal.reason)
          })
          this.#waiting.push(entry)
          if (this.#holder === null) this.#next()
        }),
    }
  }

  leave(page: object): void {
    this.#waiting = this.#waiting.filter((entry) => entry.page !== page)
    if (this.#holder === page) this.#next()
  }

  #next(): void {
    this.#holder = null
    this.#waiting.shift()?.run()
  }
}

/**
 * A browser with one cookie jar before a host in this process. `host` answers a request that has its cookies;
 * `random` draws what differs from run to run.
 */
export function simulatedBrowser(
  clock: FakeClock,
  random: () => number,
  host: (request: Request) => Promise<Response>,
): SimulatedBrowser {
  const jar = new Map<string, string>()
  const origins = new Map<string, Origin>()
  let busy = 0
  let rotations = 0
  let sent = 0
  const wait = (ms: number) =>
    ms === 0 ? Promise.resolve() : new Promise<void>((resolve) => clock.after(ms, resolve))

  async function served(
    request: Request,
    origin: string,
    isDropped: () => boolean,
  ): Promise<Response> {
    sent += 1
    const headers = new Headers(request.headers)
    headers.set('origin', origin)
    headers.set('cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '))
    const arriving = browser.weather
    await wait(browser.latency)
    if (arriving === 'refused') throw new TypeError('refused')
    if (arriving === 'away') return new Response('', { status: 503 })
    busy += 1
    const response = await host(new Request(request, { headers })).finally(() => {
      busy -= 1
    })
    if (response.headers.get('x-refresh-outcome') === 'rotated') rotations += 1
    await wait(browser.latency)
    if (arriving === 'lost' || isDropped()) throw new TypeError('lost')
    for (const line of response.headers.getSetCookie()) keep(line)
    return response
  }

  function keep(line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    if (/max-age=0/i.test(line)) jar.delete(name)
    else jar.set(name, value)
  }

  function originOf(name: string): Origin {
    const known = origins.get(name)
    const origin = known ?? { stored: new Map(), channels: new Set(), locks: new PageLocks() }
    origins.set(name, origin)
    return origin
  }

  function load(name: string) {
    const page = { isGone: false }
    const { stored, channels, locks } = originOf(name)
    const own: ClientChannel[] = []
    const environment: ClientEnvironment = {
      now: clock.now,
      after: (ms, run) => clock.after(ms, () => page.isGone || run()),
      random,
      pageUrl: `${name}/`,
      locks: locks.of(page),
      storage: {
        getItem: (key) => stored.get(key) ?? null,
        setItem: (key, value) => page.isGone || stored.set(key, value),
      },
      // The pages are other origins than the host.
      cookies: null,
      onShown: null,
      channel() {
        const channel: ClientChannel = {
          onmessage: null,
          close: () => channels.delete(channel),
          postMessage(data) {
            for (const other of channels) {
              if (other === channel) continue
              clock.after(1, () => other.onmessage?.(new MessageEvent('message', { data })))
            }
          },
        }
        own.push(channel)
        channels.add(channel)
        return channel
      },
      fetch(request) {
        const given = request.signal
        // What a page that is gone began may still be ended by the browser, or may not.
        const isKept = request.keepalive && random() < 0.5
        const isDropped = () => given.aborted || (page.isGone && !isKept)
        return new Promise((resolve, reject) => {
          given.addEventListener('abort', () => reject(given.reason))
          served(new Request(request, { signal: null }), name, isDropped).then(
            (response) => page.isGone || resolve(response),
            (error) => page.isGone || reject(error),
          )
        })
      },
    }
    const client = createClient({
      surface: 'client',
      baseUrl: 'https://app.example.com',
      environment,
    })
    const leave = () => {
      page.isGone = true
      for (const channel of own) channel.close()
      locks.leave(page)
    }
    return { client, leave }
  }

  const browser: SimulatedBrowser = {
    weather: 'fair',
    latency: 0,
    sent: () => sent,
    rotations: () => rotations,
    open(name) {
      let { client, leave } = load(name)
      const tab: SimulatedTab = {
        client,
        reload() {
          leave()
          ;({ client, leave } = load(name))
          tab.client = client
        },
        close: () => leave(),
      }
      return tab
    },
    async advance(ms) {
      for (let gone = 0; gone < ms; gone += 20) {
        while (busy > 0) await new Promise((resolve) => setImmediate(resolve))
        await clock.advance(Math.min(20, ms - gone))
      }
    },
  }
  return browser
}
