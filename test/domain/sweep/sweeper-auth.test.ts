import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { AuthOptions } from '../../../src/options.js'
import type { Backend } from '../../../src/ports/backend.js'
import { authSettingDeclarations } from '../../../src/settings/settings.js'
import { frameworks } from '../../support/hosts/frameworks.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { httpClient } from '../../support/hosts/http-client.js'
import { type TestOptions, testAuth } from '../../support/hosts/test-auth.js'
import { refreshByCookie, signedInPerson, signIn } from '../../support/people/people.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { family, hours, minutes, seconds, stored, tiers, untilFirst } from './sweeper-rig.js'

/** The library on a real server, taking part in the sweep unless told otherwise. */
async function openHost(backend: Backend, options: TestOptions = {}): Promise<ContractHost> {
  const t = await testAuth({ sweeps: true, backend, ...options })
  const running = await frameworks.express(t.auth.both)
  const { url } = running
  const host = { ...t, url, send: httpClient(url), close: () => running.close() }
  onTestFinished(async () => {
    await host.close()
    await host.auth.close()
  })
  return host
}

/** Later than anything expires here. */
const farOff = Date.UTC(2100, 0, 1)

describe.each(tiers)('sessions beside the sweep, on the %s surface', (surface) => {
  it('a rotated token is known for replay after a sweep', async () => {
    const backend = memory()
    const host = await openHost(backend)
    const { families } = stored(backend, surface)
    const gone = family(host.clock.now())
    await families.insert(gone)
    const who = await signedInPerson(host, surface)
    const second = await refreshByCookie(host, surface, who.refreshToken)
    const newest = String(second.json()['refreshToken'])
    await host.clock.advance(untilFirst + 7 * hours)
    expect(await families.get(gone.id)).toBeNull()

    const replay = await refreshByCookie(host, surface, who.refreshToken)
    expect([replay.status, replay.code]).toEqual([401, 'refresh_token_reused'])
    const after = await refreshByCookie(host, surface, newest)
    expect([after.status, after.code]).toEqual([401, 'session_revoked'])
  })

  it('a revoked session is known for it when its denylist entry was swept', async () => {
    const backend = memory()
    const host = await openHost(backend)
    const who = await signedInPerson(host, surface)
    await host.send('POST', `/v1/auth/${surface}/logout`, {
      bearer: who.bearer,
      body: { refreshToken: who.refreshToken },
    })
    const [row] = await stored(backend, surface).families.due(farOff, 10)
    const entry = `${surface}:session:${row?.id}`
    expect(await backend.denylist.find([entry])).toHaveLength(1)
    await host.clock.advance(51 * hours)
    expect(await backend.denylist.find([entry])).toEqual([])
    const late = await refreshByCookie(host, surface, who.refreshToken)
    expect([late.status, late.code]).toEqual([401, 'session_revoked'])
  })

  it('an expired row is refused while nobody sweeps, from its expiresAt on', async () => {
    const backend = memory()
    const host = await openHost(backend, { sweep: false })
    const who = await signedInPerson(host, surface)
    const other = await signIn(host, surface, who)
    const rows = await stored(backend, surface).families.due(farOff, 10)
    const expiresAt = rows[0]?.expiresAt ?? 0
    await host.clock.advance(expiresAt - 1 - host.clock.now())
    expect((await refreshByCookie(host, surface, who.refreshToken)).status).toBe(200)
    await host.clock.advance(1)
    const late = await refreshByCookie(host, surface, other.refreshToken)
    expect([late.status, late.code]).toEqual([401, 'refresh_token_expired'])
    expect(await stored(backend, surface).families.due(expiresAt, 10)).toHaveLength(1)
  })

  it('sign-in and refresh work while lease and sweep fail for hours, and the process lives', async () => {
    const { backend, failNext, heal, calls } = faultyBackend(memory())
    const unhandled: unknown[] = []
    const listen = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', listen)
    onTestFinished(() => void process.off('unhandledRejection', listen))
    const host = await openHost(backend)
    // What starting asks, to see that the store is prepared.
    const started = calls.length
    const who = await signedInPerson(host, surface)
    let token = who.refreshToken
    const goOn = async () => {
      await signIn(host, surface, who)
      const reply = await refreshByCookie(host, surface, token)
      expect(reply.status).toBe(200)
      token = String(reply.json()['refreshToken'])
    }
    failNext('lease.read', 'before', Number.POSITIVE_INFINITY)
    failNext('lease.replace', 'before', Number.POSITIVE_INFINITY)
    for (const hour of [1, 2, 3]) {
      await host.clock.advance(hours)
      expect(calls.filter((call) => call === 'lease.read').length).toBeGreaterThan(11 * hour)
      await goOn()
    }
    expect(calls.slice(started).filter((call) => call.endsWith('.sweep'))).toEqual([])
    heal()
    for (const tier of tiers) {
      failNext(`${tier}_refresh_tokens.sweep`, 'before', Number.POSITIVE_INFINITY)
      failNext(`${tier}_sessions.sweep`, 'before', Number.POSITIVE_INFINITY)
    }
    for (const hour of [1, 2, 3]) {
      await host.clock.advance(hours)
      const tried = calls.filter((call) => call === `${surface}_refresh_tokens.sweep`)
      expect(tried.length).toBeGreaterThan(10 * hour)
      await goOn()
    }
    expect(unhandled).toEqual([])
  })
})

describe('taking part in the sweep', () => {
  const sweeps = (calls: readonly string[]) =>
    calls.filter((call) => call.endsWith('.sweep') || call.startsWith('lease.'))

  it('is what every process does unless told otherwise', async () => {
    const { backend, calls } = faultyBackend(memory())
    const { auth, clock, logger } = await testAuth({ backend, sweeps: true })
    expect(sweeps(calls)).not.toContain('client_refresh_tokens.sweep')
    await clock.advance(untilFirst)
    expect(sweeps(calls)).toContain('client_refresh_tokens.sweep')
    await auth.close()
    expect(await backend.lease.read('auth:refresh-sweep')).toMatchObject({ owner: null })
    expect(logger.lines.filter(({ message }) => !message.startsWith('keys.'))).toEqual([])
  })

  it('can be left to others', async () => {
    const { backend, calls } = faultyBackend(memory())
    const { auth, clock } = await testAuth({ backend, sweep: false })
    // Starting asks whether the store is prepared.
    const started = calls.length
    await clock.advance(48 * hours)
    await auth.close()
    expect(sweeps(calls.slice(started))).toEqual([])
  })

  it('tells the host no events', async () => {
    const backend = memory()
    const { clock, auth, events } = await testAuth({ backend, sweeps: true })
    await stored(backend, 'client').families.insert(family(1))
    await clock.advance(12 * hours)
    await auth.close()
    expect(events).toEqual([])
  })

  it('a statement that does not come back does not stop the sweep', async () => {
    const { backend, calls, onCall } = faultyBackend(memory())
    const { clock } = await testAuth({ backend, sweeps: true })
    onCall('operator_refresh_tokens.sweep', () => new Promise(() => {}))
    await clock.advance(untilFirst)
    expect(sweeps(calls)).not.toContain('client_refresh_tokens.sweep')
    await clock.advance(5 * seconds)
    expect(sweeps(calls)).toContain('client_refresh_tokens.sweep')
    const cycles = () => calls.filter((call) => call === 'operator_refresh_tokens.sweep').length
    await clock.advance(5 * minutes - 5 * seconds)
    expect(cycles()).toBe(2)
  })

  it('has no knobs: an option to stay out, and nothing else', async () => {
    expectTypeOf<AuthOptions['sweep']>().toEqualTypeOf<false | undefined>()
    type Knobs = Extract<
      keyof AuthOptions,
      `${string}${'weep' | 'ease' | 'atch' | 'adence'}${string}`
    >
    expectTypeOf<Knobs>().toEqualTypeOf<'sweep'>()
    const knobs = ['sweepBatch', 'sweepInterval', 'sweepBatchSize', 'leaseTtl', 'lease', 'cadence']
    for (const knob of knobs) {
      await expect(testAuth({ [knob]: 1 })).rejects.toMatchObject({ option: knob })
    }
    for (const value of [true, 1, {}, 'off']) {
      await expect(testAuth({ sweep: value as false })).rejects.toMatchObject({ option: 'sweep' })
    }
    const settings = authSettingDeclarations.map(({ key }) => key)
    expect(settings.filter((key) => /sweep|lease|batch|cadence/i.test(key))).toEqual([])
  })
})

describe('a process that sweeps', () => {
  const src = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

  /** Node runs the sources as they are once `.js` in an import may mean a `.ts` beside it. */
  const loader = `
    import { registerHooks } from 'node:module'
    registerHooks({
      resolve(specifier, context, next) {
        try {
          return next(specifier, context)
        } catch (error) {
          if (!specifier.endsWith('.js')) throw error
          return next(specifier.slice(0, -3) + '.ts', context)
        }
      },
    })`

  /** A minute of the library passes in 6 ms. */
  const program = `
    import { startSweeping } from ${JSON.stringify(src('src/setup/lifecycle.ts'))}
    import { memory } from ${JSON.stringify(src('adapters/memory/index.ts'))}
    import { systemClock } from ${JSON.stringify(src('src/system/system-clock.ts'))}
    import { systemRandom } from ${JSON.stringify(src('src/system/machine.ts'))}
    const start = systemClock.now()
    const speed = 10_000
    const clock = {
      now: () => start + (systemClock.now() - start) * speed,
      after: (ms, run) => systemClock.after(ms / speed, run),
    }
    const logger = { debug() {}, info() {}, warn() {}, error() {} }
    const backend = memory()
    startSweeping({}, { surfaces: ['operator', 'client'], backend, clock, random: systemRandom, logger })
    // While something else runs the sweeper works; then it must not hold the process back.
    setTimeout(async () => {
      const record = await backend.lease.read('auth:refresh-sweep')
      console.log(record.owner === null ? 'idle' : 'leading')
    }, 300)`

  it('ends when nothing but the sweep is left', async () => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [
        '--import',
        `data:text/javascript,${encodeURIComponent(loader)}`,
        '--input-type=module',
        '--eval',
        program,
      ],
      { timeout: 20_000 },
    )
    expect(stdout.trim()).toBe('leading')
  })
})
