import assert, { AssertionError } from 'node:assert/strict'
import type { Collection } from '../ports/store.js'
import { describeCall } from './interleavings/play-schedule.js'
import { type ReopenedBackend, requireSame } from './process-cases.js'
import { type CaseScript, failureLike, uniqueName } from './shared/conformance-case.js'
import { type DriverControl, reset } from './shared/driver-control.js'
import { fill, type Sample, sample, sampleSpec } from './shared/sample.js'
import type { DriverCall } from './shared/through.js'

/** A backend whose driver passes through the kit, which can cut it off. */
export interface CrashingBackend extends ReopenedBackend {
  readonly driver: DriverControl
}

/** A write that is about to be made. */
interface Write {
  readonly id: string
  readonly before: Sample | null
  /** What it asks for, also where that is refused. */
  readonly wanted: Sample | null
  readonly isRefused?: true
  run(): Promise<unknown>
}

interface Setup {
  /** The collection of the process that is cut off, and that of another one. */
  readonly own: Collection<Sample>
  readonly other: Collection<Sample>
}

const expired = 1000
const unique = [['email'], ['realm', 'handle']] as const
const indexes = [...unique, ['team']] as const

const sampleOf = (id: string, changes: Partial<Sample> = {}) =>
  sample(id, { team: id, expiresAt: expired, ...changes })

/** Each starts from documents that no other run has. */
const writes: Readonly<
  Record<string, (own: Collection<Sample>, id: string) => Write | Promise<Write>>
> = {
  'an insert': (own, id) => {
    const wanted = sampleOf(id)
    return { id, before: null, wanted, run: () => own.insert(wanted) }
  },
  'an insert whose second unique value is taken': async (own, id) => {
    await fill(own, [sampleOf(`${id}holder`, { handle: id })])
    const wanted = sampleOf(id)
    return { id, before: null, wanted, isRefused: true, run: () => own.insert(wanted) }
  },
  'an update of unique values': async (own, id) => {
    const before = sampleOf(id)
    await fill(own, [before])
    const set = { email: `${id}@other.test`, handle: `${id}other`, team: `${id}other`, count: 1 }
    return {
      id,
      before,
      wanted: { ...before, ...set },
      run: () => own.update(id, { count: 0 }, set),
    }
  },
  'an update whose second unique value is taken': async (own, id) => {
    const before = sampleOf(id)
    await fill(own, [before, sampleOf(`${id}holder`)])
    const set = { email: `${id}@other.test`, handle: `${id}holder` }
    const run = () => own.update(id, { count: 0 }, set)
    return { id, before, wanted: { ...before, ...set }, isRefused: true, run }
  },
  'a take': async (own, id) => {
    const before = sampleOf(id)
    await fill(own, [before])
    return { id, before, wanted: null, run: () => own.take(id) }
  },
  'a sweep': async (own, id) => {
    const before = sampleOf(id)
    await fill(own, [before])
    return { id, before, wanted: null, run: () => own.sweep(expired, 100) }
  },
}

/** Takes a connection or gives it back; and undoes what a database undoes by itself once the connection is gone. */
const harmless =
  /^(connect|getConnection|acquire|reserve|release|end|destroy|close|rollback|abortTransaction|endSession|discard|unwatch)$/i

function isCommand({ name, args, madeBy }: DriverCall): boolean {
  const [told] = madeBy === null || args.length > 0 ? args : madeBy.args
  const text: unknown =
    typeof told === 'object' && told
      ? (Reflect.get(told, 'sql') ?? Reflect.get(told, 'text'))
      : told
  return !harmless.test(name) && !/^\s*rollback\b/i.test(String(text))
}

/** Carries out that many commands of `run`, loses the last one's answer, and carries out none after it. */
async function cutAfter(driver: DriverControl, commands: number, run: Write['run']) {
  const sent: string[] = []
  let left = commands
  const isLast = (call: DriverCall): boolean => {
    if (left > 0) sent.push(describeCall(call))
    left -= 1
    return left <= 0
  }
  const release = driver.intercept({
    before(call) {
      if (left > 0 || !isCommand(call)) return null
      if (driver.isSynchronous) throw reset(call)
      const refused = Promise.reject(reset(call))
      refused.catch(() => {}) // of a call that nobody waits for
      return refused
    },
    async later(call, answer) {
      if (!isCommand(call) || !isLast(call)) return answer
      await answer.catch(() => {})
      throw reset(call)
    },
    atOnce(call) {
      if (driver.isSynchronous && isCommand(call) && isLast(call)) throw reset(call)
    },
  })
  // Whoever asked is gone, whatever the answer.
  await run().catch(() => {})
  release()
  return { sent, isCut: left <= 0 }
}

const part = (doc: Sample, on: readonly (keyof Sample)[]): Partial<Sample> =>
  Object.fromEntries(on.map((name) => [name, doc[name]]))

/** A unique value is a document's, or can be written again: by the same document or by another. */
async function requireFree(other: Collection<Sample>, doc: Sample): Promise<void> {
  for (const on of unique) {
    const value = part(doc, on)
    if ((await other.find(value, { limit: 1 })).length > 0) continue
    const { id } = doc
    const rival = sampleOf(`${id}${uniqueName()}`, value)
    const isFree =
      (await other.insert(rival)) ||
      (await other.insert(doc)) ||
      (await other.update(id, { enabled: true }, value)) !== null
    const names = on.join(' and ')
    const lost = `the unique value of ${names} is lost: nobody has it, and no document can be written with it`
    assert.ok(isFree, lost)
    await other.take(rival.id)
  }
}

async function check(
  { own, other }: Setup,
  { id, before, wanted, isRefused }: Write,
): Promise<void> {
  const stored = await other.get(id)
  const isBefore = isRefused || stored?.email === before?.email
  assert.deepEqual(stored, isBefore ? before : wanted, 'it must be carried out whole or not at all')
  assert.deepEqual(await own.get(id), stored, 'two processes must read the same document')
  const known = [before, wanted].filter((doc) => doc !== null)
  for (const doc of known) {
    for (const on of indexes) {
      const found = await other.find(part(doc, on), { limit: 9 })
      const same = stored && on.every((name) => stored[name] === doc[name])
      const mine = found.filter((one) => one.id === id)
      assert.deepEqual(mine, same ? [stored] : [], `find by ${on.join(' and ')} and get must agree`)
    }
  }
  for (const doc of known) await requireFree(other, doc)
  const { left } = await other.sweep(expired, 100)
  assert.equal(left, 0, 'the sweep after it must leave nothing that expired')
  assert.equal(await other.get(id), null, 'the sweep after it must remove what expired')
  for (const doc of known) await requireFree(other, doc)
}

async function play(arrange: (typeof writes)[string], subject: CrashingBackend): Promise<void> {
  const { backend, driver } = subject
  const spec = sampleSpec('sliding')
  await backend.store.prepare([spec])
  const second = await subject.again()
  await requireSame(backend, second)
  const setup = { own: backend.store.collection(spec), other: second.store.collection(spec) }
  for (let commands = 1; ; commands++) {
    const write = await arrange(setup.own, `kit${uniqueName()}`)
    const { sent, isCut } = await cutAfter(driver, commands, () => write.run())
    if (sent.length === 0) {
      throw new TypeError('open: no command of it passed `through`, so it cannot be cut off')
    }
    await check(setup, write).catch((error: unknown) => {
      const what = error instanceof AssertionError ? error.message : String(error)
      const where = isCut ? `  cut off after command ${commands}` : '  not cut off'
      const steps = sent.map((step, at) => `    ${at + 1}. ${step}`)
      const told = error instanceof Error ? error : new Error(what)
      throw failureLike(told, [what, where, ...steps].join('\n'))
    })
    if (!isCut) return
  }
}

export const crashScripts: readonly CaseScript<CrashingBackend>[] = Object.entries(writes).map(
  ([what, arrange]) => ({
    name: `cut off after each command: ${what}`,
    group: 'crashes',
    promise:
      'Collection: a write that dies half-way is whole or was not made, and loses no unique value',
    play: (subject) => play(arrange, subject),
  }),
)
