import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { checkHistory, type Verdict } from './checker.js'
import { type FamilyCall, type FamilyResult, familyModel } from './family-model.js'
import { figure } from './figures.js'
import { type History, type HistoryPlan, runHistory } from './histories.js'
import type { HostConfig } from './host.js'
import { lineFrom } from './moving-clock.js'
import { sizes } from './sizes.js'
import { describeOn, inLanes, type OpenHosts, openHosts, stores } from './stores.js'

/** A fast clock: ten seconds of grace end within a history, after 200 real milliseconds. */
const rate = 50
const lateMs = 500
const graces = { '0s': 0, '10s': 10_000 } as const

function configOf(grace: keyof typeof graces, planted: HostConfig['planted'] = null) {
  return {
    clock: lineFrom(Date.now(), rate),
    planted,
    options: {
      settings: { refreshReuseGrace: grace, sessionAbsoluteTTL: '1h' },
      backendTimeout: 400,
      sweep: false,
    },
  } satisfies HostConfig
}

async function manyHistories(plan: HistoryPlan, count: number): Promise<readonly History[]> {
  const found: History[] = []
  await inLanes(count, sizes.historiesAtOnce, async (index) => {
    found.push(await runHistory({ ...plan, seed: `${plan.seed}/${index}` }))
  })
  return found
}

const verdictOf = ({ rules, calls }: History): Verdict => checkHistory(familyModel(rules), calls)

/** How often a result was given, such as `rotated` or `session_revoked`. */
function count(calls: readonly FamilyCall[], wanted: string): number {
  return calls.filter(({ result }) => {
    return result === null
      ? wanted === 'unanswered'
      : [codeOf(result), result.kind].includes(wanted)
  }).length
}

const codeOf = (result: FamilyResult): string => ('code' in result ? result.code : '')

for (const [store, grace] of stores.flatMap((it) => [[it, '0s'] as const, [it, '10s'] as const])) {
  describeOn(store, `figure R2: refresh families on ${store}, grace ${grace}`, () => {
    const config = configOf(grace)
    let open: OpenHosts | undefined
    beforeAll(async () => {
      open = await openHosts(store, 2, { ...config, poolSize: 8 })
    })
    afterAll(() => open?.close())

    it(`${sizes.histories} histories of 40 to 60 calls by 8 clients, none of them illegal or undecided`, async () => {
      const histories = await manyHistories(
        {
          seed: `${store} ${grace}`,
          hosts: open?.hosts ?? [],
          line: config.clock,
          graceMs: graces[grace],
          faultRate: 0.05,
          lateMs,
        },
        sizes.histories,
      )
      const wrong = histories.map(verdictOf).filter(({ verdict }) => verdict !== 'legal')
      expect(wrong.map((it) => ('stuck' in it ? it.stuck : it.verdict))).toEqual([])
      const lengths = histories.map(({ calls }) => calls.length)
      expect([Math.min(...lengths) >= 40, Math.max(...lengths) <= 60]).toEqual([true, true])
      const calls = histories.flatMap((history) => history.calls)
      const seen = ['rotated', 'refresh_token_reused', 'session_revoked', 'unanswered']
      expect(seen.filter((result) => count(calls, result) === 0)).toEqual([])
      const told = ['rotated', 'reissued', 'refresh_token_reused', 'session_max_age_reached']
      figure(
        'R2',
        `linearizable refresh on ${store}, grace ${grace}`,
        `${histories.length} histories with ${calls.length} calls: 0 illegal, 0 unknown ` +
          `(${told.map((result) => `${count(calls, result)} ${result}`).join(', ')}, ` +
          `${count(calls, 'unanswered')} unanswered)`,
      )
    }, 600_000)
  })
}

for (const store of stores) {
  describeOn(store, `figure R2: a planted fork on ${store}`, () => {
    it('is found: an update that looks first and writes then makes histories illegal', async () => {
      const config = configOf('10s', 'fork')
      const { hosts, close } = await openHosts(store, 2, config)
      onTestFinished(close)
      const given = { hosts, line: config.clock, graceMs: 10_000, faultRate: 0, lateMs }
      const verdicts: string[] = []
      // The fault shows where two requests meet, which is up to the machine.
      for (let search = 0; search < 10 && !verdicts.includes('illegal'); search += 1) {
        const plan = { ...given, seed: `fork on ${store}, ${search}` }
        const found = await manyHistories(plan, 8)
        verdicts.push(...found.map((history) => verdictOf(history).verdict))
      }
      expect(verdicts).toContain('illegal')
      expect(verdicts).not.toContain('unknown')
    })
  })
}
