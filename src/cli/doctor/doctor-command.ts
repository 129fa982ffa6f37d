import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Finding, FindingCheck } from 'postern'
import type { Call, Command } from '../frame/command.js'
import { Refusal } from '../frame/refusal.js'
import { withAuth } from '../frame/with-auth.js'
import { usualKeyFile } from '../keys/key-file.js'
import { keyFileFindings } from './key-file-findings.js'

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
