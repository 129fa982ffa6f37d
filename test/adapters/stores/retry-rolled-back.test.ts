import { retryRolledBack } from 'postern/stores'
import { expect, it } from 'vitest'

const deadlock = new Error('deadlock')
const lost = new Error('connection lost')
const isDeadlock = (error: unknown) => error === deadlock

/** Fails with these errors, one after the other, and then answers how often it was called. */
function failing(...errors: readonly Error[]) {
  const rest = [...errors]
  let calls = 0
  return async () => {
    calls += 1
    const error = rest.shift()
    if (error !== undefined) throw error
    return calls
  }
}

it('sends again what the database rolled back', async () => {
  expect(await retryRolledBack(isDeadlock, failing())).toBe(1)
  expect(await retryRolledBack(isDeadlock, failing(deadlock, deadlock))).toBe(3)
})

it('gives up after three, or as many as it may', async () => {
  await expect(retryRolledBack(isDeadlock, failing(deadlock, deadlock, deadlock))).rejects.toBe(
    deadlock,
  )
  await expect(retryRolledBack(isDeadlock, failing(deadlock), 1)).rejects.toBe(deadlock)
})

it('never repeats what may have been carried out', async () => {
  const send = failing(lost, deadlock)
  await expect(retryRolledBack(isDeadlock, send)).rejects.toBe(lost)
  await expect(retryRolledBack(isDeadlock, send)).resolves.toBe(3)
})
