import { parseArgs } from 'node:util'
import { type Decision, lineOf } from '../test/simulation/decision.js'
import { type History, succeeded } from '../test/simulation/history.js'
import { type PredicateName, predicates } from '../test/simulation/predicates/index.js'
import { signedOutBy } from '../test/simulation/predicates/lost-replies.js'
import { preload } from '../test/simulation/preload.js'
import { shrink } from '../test/simulation/shrink.js'
import { replay, simulate, simulated } from '../test/simulation/simulate.js'
import { endings, stolenTable } from '../test/simulation/stolen-table.js'
import { tripwire } from '../test/simulation/tripwire.js'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    steps: { type: 'string', default: '2000' },
    minutes: { type: 'string', default: '60' },
    least: { type: 'string', default: '0' },
    replay: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
    first: { type: 'boolean', default: false },
  },
})
const longest = 2000
const million = 1_000_000
/** From so many steps on, each of these must have been seen so often. Chance alone must not miss a floor. */
const judgedFrom = 300_000
const stolenFrom = 900_000
/** The rarest of them is seen some five times in a million steps, in bunches, and in one run of fifty not at all. */
const pairsFrom = 5_000_000
const floors = { premises: 10, often: 200, stolen: 1, codes: 1, faults: 1 }
/** A call that writes, and operations whose every write must have met every fault. */
const writes = /\.(insert|update|take|put|upsert|hit)/
const struckOperations = ['refresh', 'logout', 'change', 'reset', 'login', 'second']
const faults = ['before', 'lost', 'late']
const wantedCodes = [
  ...['invalid_credentials', 'refresh_token_reused', 'refresh_token_expired', 'session_revoked'],
  ...['unauthorized', 'invalid_token', 'token_expired', 'invalid_mfa_code', 'mfa_ticket_invalid'],
  ...['rate_limited', 'invalid_client', 'service_unavailable', 'session_enforcement_unavailable'],
]

/** Whole numbers from the command line. */
function whole(name: 'seed' | 'steps' | 'minutes' | 'least'): number {
  const value = Number(values[name])
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`--${name} is no whole number`)
  return value
}

function bad(told: string): void {
  process.exitCode = 1
  console.log(`BAD  ${told}`)
}

type Counts = Map<string, number>

interface Sums {
  readonly premises: Counts
  readonly stolen: Counts
  readonly codes: Counts
  readonly struck: Counts
  /** Why owners were told of replay after a reply was lost. */
  readonly signedOut: Counts
  readonly owned: Map<string, { asked: number; succeeded: number }>
  /** The first that went wrong. */
  wrong: { readonly seed: number; readonly name: PredicateName } | null
}

const add = (counts: Counts, key: string, by = 1): void =>
  void counts.set(key, (counts.get(key) ?? 0) + by)

function report(sums: Sums, wrong: NonNullable<Sums['wrong']>, violation: string): void {
  const { seed, name } = wrong
  bad(`${name}, seed ${seed}: ${violation}`)
  sums.wrong ??= wrong
}

function sum(sums: Sums, seed: number, history: History): void {
  for (const exchange of history.exchanges) {
    const of = sums.owned.get(exchange.actor) ?? { asked: 0, succeeded: 0 }
    of.asked += 1
    if (succeeded(exchange)) of.succeeded += 1
    sums.owned.set(exchange.actor, of)
    if (exchange.code !== '') add(sums.codes, exchange.code)
  }
  for (const [key, count] of stolenTable(history)) add(sums.stolen, key, count)
  for (const [key, count] of history.struck) add(sums.struck, key, count)
  for (const reason of signedOutBy(history)) add(sums.signedOut, reason)
  for (const name of Object.keys(predicates) as PredicateName[]) {
    const { premises, violations } = predicates[name](history)
    add(sums.premises, name, premises)
    for (const violation of violations) report(sums, { seed, name }, violation)
  }
}

async function play(steps: number, seed: number): Promise<Sums & { readonly done: number }> {
  const counts = { premises: new Map(), stolen: new Map(), codes: new Map(), struck: new Map() }
  const sums: Sums = { ...counts, signedOut: new Map(), owned: new Map(), wrong: null }
  const end = performance.now() + whole('minutes') * 60_000
  let done = 0
  for (let own = seed; done < steps && performance.now() < end; own += 1) {
    const length = Math.min(steps - done, longest)
    const history = await simulate(own, length)
    sum(sums, own, history)
    if (values.trace) console.log(`${own} ${history.trace}`)
    if (values.replay) {
      const { trace } = await simulate(own, length)
      if (trace !== history.trace) bad(`seed ${own} plays differently the second time`)
    }
    done += length
    if (done % million === 0 && done < steps) console.log(`${done / million} million steps`)
    if (values.first && sums.wrong !== null) {
      console.log(`wrong after ${done} steps`)
      break
    }
  }
  return { ...sums, done }
}

/** The first history that went wrong, without what it does not need. */
async function printShrunk({ seed, name }: NonNullable<Sums['wrong']>): Promise<void> {
  const isWrong = async (decisions: readonly Decision[]): Promise<boolean> =>
    predicates[name](await replay({ seed }, decisions)).violations.length > 0
  const { decisions } = await simulated({ seed, steps: longest })
  if (!(await isWrong(decisions))) return
  const shrunk = await shrink(decisions, isWrong)
  console.log(`${name}, seed ${seed}, in ${shrunk.length} decisions for seeds.json:`)
  for (const decision of shrunk) console.log(`  ${lineOf(decision)}`)
  console.log(JSON.stringify({ predicate: name, seed, decisions: shrunk }))
}

function printCounts(name: string, counts: Counts): void {
  const told = [...counts].sort(([one], [other]) => (one < other ? -1 : 1))
  console.log(`${name}: ${told.map(([key, count]) => `${key} ${count}`).join(', ')}`)
}

/** What was looked for and seen too rarely: then the run says too little. */
function refuseGaps({ premises, stolen, codes, struck }: Sums, done: number): void {
  const needs = (counts: Counts, keys: Iterable<string>, floor: number, what: string): void => {
    for (const key of keys) {
      const count = counts.get(key) ?? 0
      if (count < floor) bad(`${what} ${key} only ${count} times`)
    }
  }
  const least = done >= stolenFrom ? floors.often : floors.premises
  needs(premises, Object.keys(predicates), least, 'had something to say about')
  const pairs = Object.entries(endings).flatMap(([thing, acts]) =>
    acts.map((act) => `${thing} after ${act}`),
  )
  const things: Counts = new Map()
  for (const [pair, count] of stolen) add(things, pair.split(' ')[0] ?? '', count)
  if (done >= stolenFrom) needs(things, Object.keys(endings), floors.stolen, 'refused a stolen')
  if (done >= pairsFrom) needs(stolen, pairs, floors.stolen, 'refused a stolen')
  needs(codes, wantedCodes, floors.codes, 'answered')
  const calls = [...struck.keys()].flatMap((key) => {
    const [operation = '', call = '', how] = key.split(' ')
    const isWanted = struckOperations.includes(operation) && writes.test(call) && how === 'go'
    // Of what is called less often, chance may leave a fault out.
    const isCommon = (struck.get(key) ?? 0) >= 5000
    return isWanted && isCommon ? faults.map((fault) => `${operation} ${call} ${fault}`) : []
  })
  needs(struck, calls, floors.faults, 'struck')
}

function print(sums: Sums & { readonly done: number }, started: number): void {
  const { premises, owned, done } = sums
  const seconds = (performance.now() - started) / 1000
  console.log(`${done} steps from seed ${values.seed} on, ${Math.round(done / seconds)} a second`)
  if (done < whole('least')) bad(`only ${done} steps in ${values.minutes} minutes`)
  console.log('\nactors, and how many of their requests succeeded:')
  for (const [actor, of] of owned) console.log(`${actor}: ${of.succeeded} of ${of.asked} succeeded`)
  console.log('\nrules, and how often each had something to judge:')
  for (const [name, count] of premises) console.log(`${name}: ${count} premises`)
  console.log('')
  printCounts('stolen things that were refused', sums.stolen)
  printCounts('owners signed out after a lost reply, by exception', sums.signedOut)
  printCounts('refusals', sums.codes)
  if (done >= judgedFrom) refuseGaps(sums, done)
  console.log(
    'stubbed: password hash, mail, outgoing requests, clock, random; signed on one thread',
  )
  console.log(`\n${verdict(sums)}`)
}

/** Says in a line how the run ended, since a short one judges less than its figures make believe. */
function verdict({ premises }: Sums): string {
  if (process.exitCode === 1) return 'something is wrong: see the lines that begin with BAD'
  const idle = [...premises].filter(([, count]) => count === 0).map(([name]) => name)
  const judged = premises.size - idle.length
  if (idle.length === 0) return `${judged} rules held`
  return `${judged} rules held; more steps are needed to judge these: ${idle.join(', ')}`
}

async function main(): Promise<void> {
  await preload()
  for (const seed of [0, 1]) await simulate(seed, longest)
  const started = performance.now()
  const { trips, takeBack } = tripwire()
  const played = await play(whole('steps'), whole('seed')).finally(takeBack)
  for (const trip of new Set(trips)) bad(trip)
  if (values.first) return
  print(played, started)
  if (played.wrong !== null) await printShrunk(played.wrong)
}

await main()
