import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { platform } from 'node:os'
import { resolve } from 'node:path'
import type { Finding, FindingCheck } from 'postern'
import type { Call, Command } from '../frame/command.js'
import { Refusal } from '../frame/refusal.js'
import { withAuth } from '../frame/with-auth.js'
import { describeKey } from '../keys/describe-key.js'
import { type KeyFile, readKeyFile, usualKeyFile } from '../keys/key-file.js'

const checks: readonly FindingCheck[] = [
  ...(['proxy', 'hosts', 'keys', 'database', 'durability', 'clock', 'settings'] as const),
  ...(['encryption', 'hashing', 'providers'] as const),
]

export const doctorCommand: Command = {
  help: `Usage: postern doctor [--accept CHECK,…] [--offline] [--keys FILE]

Looks at the host's options, at the database and at this machine, and says what
to fix. It changes nothing. Run it where the host runs, with its environment.

  proxy       trustProxy         settings    stored values that are not in force
  hosts       cookies, origins   encryption  secrets and their keys
  keys        sizes and age      hashing     what a password costs here
  database    tables, indexes    providers   Google, Microsoft, Apple, GitHub
  durability  Redis: eviction, persistence
  clock       this machine's against the database's

  --accept CHECK,…  leaves out findings that you know and live with
  --offline         asks no identity provider
  --keys FILE       the key file, for the age of its keys; default
                    ${usualKeyFile}, where there is one

Exit code 0: nothing was found. 1: something was.`,
  flags: { accept: { type: 'string' }, offline: { type: 'boolean' }, keys: { type: 'string' } },
  async run(call) {
    const accepted = acceptedOf(call)
    const offline = call.flags['offline'] === true
    const found = await withAuth({ err: () => undefined }, await call.config(), (auth) =>
      auth.diagnose({ offline }),
    )
    const all = [...found, ...(await keyFindings(call))]
    const findings = all.filter(({ check }) => !accepted.has(check))
    show(call, findings, all.length - findings.length)
    return findings.length === 0 ? 0 : 1
  },
}

function acceptedOf({ flags: { accept = '' } }: Call): ReadonlySet<string> {
  const names = String(accept)
    .split(',')
    .filter((name) => name !== '')
  const unknown = names.find((name) => !checks.some((check) => check === name))
  if (unknown === undefined) return new Set(names)
  throw new Refusal(`There is no check "${unknown}". There are: ${checks.join(', ')}.`, 2)
}

async function keyFindings({ cwd, flags: { keys }, now }: Call): Promise<readonly Finding[]> {
  const path = resolve(cwd, typeof keys === 'string' ? keys : usualKeyFile)
  // A host may have its keys elsewhere.
  if (keys === undefined && !existsSync(path)) return []
  return keyFileFindings(path, now())
}

function show(call: Call, findings: readonly Finding[], accepted: number): void {
  if (call.json) {
    call.out(JSON.stringify({ findings }))
    return
  }
  for (const { check, problem, remedy } of findings) {
    call.out(`${check}: ${problem}\n    ${remedy}\n`)
  }
  const left = accepted === 0 ? '' : ` ${accepted} accepted.`
  call.err(findings.length === 0 ? `Nothing to fix.${left}` : `${findings.length} to fix.${left}`)
}

const dayMs = 86_400_000
/** NIST SP 800-57 §5.3.6 gives one to two years to a key that signs, or that encrypts much. */
const oldestDays = 365
/** A published key has nothing to wait for after ten minutes. */
const longestWaitDays = 30

/** Reports old keys, a rotation that stopped half-way, and a key file that others can read. */
export async function keyFileFindings(path: string, now: number): Promise<readonly Finding[]> {
  const file = await readKeyFile(path)
  return [...ageFindings(file, now), ...rightsFindings(path, (await stat(path)).mode)]
}

function ageFindings({ signing, configKeys, dates }: KeyFile, now: number): readonly Finding[] {
  const daysOf = (id: string) => Math.floor((now - (dates[id]?.madeAt ?? now)) / dayMs)
  const findings: Finding[] = []
  const current = daysOf(describeKey(signing.current).kid)
  if (current > oldestDays) {
    const problem = `The signing key is ${current} days old.`
    findings.push({ check: 'keys', problem, remedy: 'Run postern keys rotate.' })
  }
  const waiting = signing.next === undefined ? 0 : daysOf(describeKey(signing.next).kid)
  if (waiting > longestWaitDays) {
    const problem = `A new signing key was published ${waiting} days ago and does not sign yet.`
    const remedy = 'Run postern keys rotate again: the rotation stopped half-way.'
    findings.push({ check: 'keys', problem, remedy })
  }
  const [first] = configKeys
  const days = first === undefined ? 0 : daysOf(first.id)
  if (days > oldestDays) {
    const problem = `The configuration key is ${days} days old.`
    const remedy =
      'Run postern keys rotate --configuration and restart, once more after ten minutes, and then call auth.config.reencrypt().'
    findings.push({ check: 'encryption', problem, remedy })
  }
  return findings
}

/** Windows has no such rights, and tells 0o666 of every file. */
function rightsFindings(path: string, mode: number): readonly Finding[] {
  if ((mode & 0o077) === 0 || platform() === 'win32') return []
  const problem = `Other users of this machine may read ${path}.`
  return [{ check: 'keys', problem, remedy: `chmod 600 ${path}, and rotate if they could.` }]
}
