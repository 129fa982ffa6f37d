import { parseArgs } from 'node:util'
import { succeeded } from '../test/simulation/history.js'
import { predicates } from '../test/simulation/predicates/index.js'
import { simulate } from '../test/simulation/simulate.js'

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, steps: { type: 'string', default: '2000' } },
})
const longest = 2000

/** Whole numbers from the command line. */
function whole(name: 'seed' | 'steps'): number {
  const value = Number(values[name])
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`--${name} is no whole number`)
  return value
}

async function main(): Promise<void> {
  const steps = whole('steps')
  const premises = new Map<string, number>()
  const owned = new Map<string, { asked: number; succeeded: number }>()
  // What is loaded at first use comes from the disk, in its own time.
  await simulate(0, 700)
  const started = performance.now()
  let seed = whole('seed')
  for (let left = steps; left > 0; left -= longest, seed += 1) {
    const history = await simulate(seed, Math.min(left, longest))
    const { exchanges, trace } = history
    console.log(`seed ${seed}: ${exchanges.length} requests, trace ${trace}`)
    for (const exchange of exchanges) {
      const sum = owned.get(exchange.actor) ?? { asked: 0, succeeded: 0 }
      sum.asked += 1
      if (succeeded(exchange)) sum.succeeded += 1
      owned.set(exchange.actor, sum)
    }
    for (const [name, predicate] of Object.entries(predicates)) {
      const judged = predicate(history)
      premises.set(name, (premises.get(name) ?? 0) + judged.premises)
      for (const violation of judged.violations) {
        process.exitCode = 1
        console.log(`BAD  ${name}, seed ${seed}: ${violation}`)
      }
    }
  }
  const seconds = (performance.now() - started) / 1000
  console.log(`${steps} steps, ${Math.round(steps / seconds)} a second`)
  for (const [actor, sum] of owned)
    console.log(`${actor}: ${sum.succeeded} of ${sum.asked} succeeded`)
  for (const [name, count] of premises) console.log(`${name}: ${count} premises`)
  console.log(
    'stubbed: password hash, mail, outgoing requests, clock, random; signed on one thread',
  )
}

await main()
