import { parseArgs } from 'node:util'
import { type History, succeeded } from '../test/simulation/history.js'
import { predicates } from '../test/simulation/predicates/index.js'
import { simulate } from '../test/simulation/simulate.js'
import { tripwire } from '../test/simulation/tripwire.js'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    steps: { type: 'string', default: '2000' },
    minutes: { type: 'string', default: '60' },
    least: { type: 'string', default: '0' },
    replay: { type: 'boolean', default: false },
  },
})
const longest = 2000
/** From so many steps on, each predicate must have had something to say this often. */
const judgedFrom = 100_000
const floor = 10

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

interface Sums {
  readonly premises: Map<string, number>
  readonly owned: Map<string, { asked: number; succeeded: number }>
}

function sum({ premises, owned }: Sums, seed: number, history: History): void {
  for (const exchange of history.exchanges) {
    const of = owned.get(exchange.actor) ?? { asked: 0, succeeded: 0 }
    of.asked += 1
    if (succeeded(exchange)) of.succeeded += 1
    owned.set(exchange.actor, of)
  }
  for (const [name, predicate] of Object.entries(predicates)) {
    const judged = predicate(history)
    premises.set(name, (premises.get(name) ?? 0) + judged.premises)
    for (const violation of judged.violations) bad(`${name}, seed ${seed}: ${violation}`)
  }
}

async function play(steps: number, seed: number): Promise<Sums & { readonly done: number }> {
  const sums: Sums = { premises: new Map(), owned: new Map() }
  const end = performance.now() + whole('minutes') * 60_000
  let done = 0
  for (let own = seed; done < steps && performance.now() < end; own += 1) {
    const length = Math.min(steps - done, longest)
    const history = await simulate(own, length)
    sum(sums, own, history)
    if (values.replay) {
      const { trace } = await simulate(own, length)
      if (trace !== history.trace) bad(`seed ${own} plays differently the second time`)
    }
    done += length
  }
  return { ...sums, done }
}

function print({ premises, owned, done }: Sums & { readonly done: number }, started: number): void {
  const seconds = (performance.now() - started) / 1000
  console.log(`${done} steps from seed ${values.seed} on, ${Math.round(done / seconds)} a second`)
  if (done < whole('least')) bad(`only ${done} steps in ${values.minutes} minutes`)
  for (const [actor, of] of owned) console.log(`${actor}: ${of.succeeded} of ${of.asked} succeeded`)
  for (const [name, count] of premises) {
    console.log(`${name}: ${count} premises`)
    if (done >= judgedFrom && count < floor) bad(`${name} had something to say ${count} times`)
  }
  console.log(
    'stubbed: password hash, mail, outgoing requests, clock, random; signed on one thread',
  )
}

async function main(): Promise<void> {
  // What is loaded at first use comes from the disk, in its own time.
  for (const seed of [0, 1]) await simulate(seed, longest)
  const started = performance.now()
  const { trips, takeBack } = tripwire()
  const played = await play(whole('steps'), whole('seed')).finally(takeBack)
  for (const trip of new Set(trips)) bad(trip)
  print(played, started)
}

await main()
