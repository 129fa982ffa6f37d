import { spawn } from 'node:child_process'
import { createReadStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { smallSigningKey } from '../support/keys.js'

/** A line of a transcript, as far as it is read here. */
interface Line {
  readonly seed: number
  readonly step: number
  readonly rig: string
  readonly operation: string
  /** Null of a call in code. */
  readonly request: unknown
  readonly reply: {
    readonly status?: number
    readonly body?: { readonly code?: string } | null
    /** Of an error that a call threw. */
    readonly code?: string
  }
}

/** Where two builds part; what comes later in that history follows from it. */
export interface Difference extends Pick<Line, 'seed' | 'step' | 'rig' | 'operation' | 'request'> {
  /** `reply.status: 200 | 401`, a line for each place. */
  readonly places: readonly string[]
}

export interface Outcome {
  readonly differences: readonly Difference[]
  readonly requests: number
  /** How often each operation was answered, by `200` or `401 session_revoked`. */
  readonly answers: ReadonlyMap<string, ReadonlyMap<string, number>>
}

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** Writes the transcript of a build; resolves with what it said where it broke off. */
function transcript(root: string, args: readonly string[], signingKey: string): Promise<string> {
  const hooks = ['--import', here('../support/module-hooks.mjs'), here('play.ts')]
  const child = spawn(process.execPath, [...hooks, root, ...args], {
    ...{ cwd: root, stdio: ['ignore', 'inherit', 'pipe'] as const },
    env: { PATH: process.env['PATH'], TEST_SIGNING_KEY: signingKey },
  })
  let told = ''
  child.stderr.on('data', (bytes: Buffer) => {
    told += bytes.toString()
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code === 0 ? '' : `${root} ended with ${code}: ${told}`))
  })
}

function placesOf(base: unknown, other: unknown, at: string): readonly string[] {
  const [one, two] = [JSON.stringify(base), JSON.stringify(other)]
  if (one === two) return []
  const isBoth = [base, other].every((value) => typeof value === 'object' && value !== null)
  if (!isBoth) return [`${at}: ${one?.slice(0, 400)} | ${two?.slice(0, 400)}`]
  const names = new Set([...Object.keys(Object(base)), ...Object.keys(Object(other))])
  return [...names].flatMap((name) =>
    placesOf(Object(base)[name], Object(other)[name], at === '' ? name : `${at}.${name}`),
  )
}

function answerOf({ reply: { status, code, body } }: Line): string {
  return [status ?? 'done', code ?? body?.code].filter((part) => part !== undefined).join(' ')
}

function compare(one: Line, text: string, other: string | undefined): Difference | null {
  if (text === other) return null
  const { seed, step, rig, operation, request } = one
  const two: unknown = other === undefined ? null : JSON.parse(other)
  const places = other === undefined ? ['there is no such step'] : placesOf(one, two, '')
  return { seed, step, rig, operation, request, places }
}

/** Plays the same requests against the builds of two checkouts, and says where their answers part. */
export async function lockstep(
  base: string,
  other: string,
  { seed, steps }: { readonly seed: number; readonly steps: number },
): Promise<Outcome> {
  const dir = mkdtempSync(join(tmpdir(), 'postern-lockstep-'))
  const files = [join(dir, 'base'), join(dir, 'other')] as const
  const args = [String(seed), String(steps)]
  try {
    const key = smallSigningKey()
    const broken = await Promise.all([
      transcript(base, [files[0], ...args], key),
      transcript(other, [files[1], ...args], key),
    ])
    const outcome = await outcomeOf(...files)
    const told = broken.filter((text) => text !== '')
    if (told.length > 0 && outcome.differences.length === 0) throw new Error(told.join('\n'))
    return outcome
  } finally {
    rmSync(dir, { recursive: true })
  }
}

async function outcomeOf(base: string, other: string): Promise<Outcome> {
  const [ones, twos] = [base, other].map((file) =>
    createInterface({ input: createReadStream(file) })[Symbol.asyncIterator](),
  )
  const differences: Difference[] = []
  const answers = new Map<string, Map<string, number>>()
  let requests = 0
  for (let text = await ones?.next(); text?.done === false; text = await ones?.next()) {
    const second = await twos?.next()
    const line: Line = JSON.parse(text.value)
    requests += 1
    const of = answers.get(line.operation) ?? new Map<string, number>()
    answers.set(line.operation, of.set(answerOf(line), (of.get(answerOf(line)) ?? 0) + 1))
    if (differences.at(-1)?.seed === line.seed) continue
    const difference = compare(line, text.value, second?.done === false ? second.value : undefined)
    if (difference !== null) differences.push(difference)
  }
  return { differences, requests, answers }
}
