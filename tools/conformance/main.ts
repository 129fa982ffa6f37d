import { groupColumn, type Played, play, problemsOf, scheduleColumn, skipsOf } from './play.js'
import { stores } from './stores.js'
import { tableOf } from './table.js'

/** Plays the conformance kit on the stores named on the command line, or on all of them. */
async function main(wanted: readonly string[]): Promise<void> {
  const unknown = wanted.filter((name) => !stores.some((store) => store.name === name))
  if (unknown.length > 0) throw new Error(`no such store: ${unknown.join(', ')}`)
  const played: Played[] = []
  for (const store of stores.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
    const result = await play(store)
    if (result) played.push(result)
    else console.log(`${store.name}: skipped, its server was not found`)
  }
  console.log(tableOf('cases that passed', played.map(groupColumn)))
  console.log(`\n${tableOf('interleavings played', played.map(scheduleColumn))}`)
  for (const skip of skipsOf(played)) console.log(`skipped: ${skip}`)
  const problems = problemsOf(played)
  for (const problem of problems) console.error(`\nFAILED on ${problem}`)
  if (problems.length > 0) process.exitCode = 1
}

await main(process.argv.slice(2))
