// The other end of bench/harness/child.ts: a contender answers the questions of the run by name.

/**
 * `start` is asked first. Its answer reaches the run as `ready`.
 * @param {Record<string, (given: any) => any>} answers
 */
export function contender(answers) {
  const known = { cpu, memory, ...answers }
  const reply = async ({ id, name, given }) => {
    try {
      const answer = await known[name](given)
      process.send({ id, answer: answer ?? null })
    } catch (error) {
      process.send({ id, error: String(error?.stack ?? error) })
    }
  }
  process.on('message', (question) => void reply(question))
  process.on('disconnect', () => process.exit(0))
}

/** Microseconds of this process, those of libuv's threads included. */
function cpu() {
  const { user, system } = process.cpuUsage()
  return user + system
}

function memory() {
  for (let time = 0; time < 3; time += 1) globalThis.gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  return { rss, heapUsed }
}
