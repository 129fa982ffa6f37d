import { stat } from 'node:fs/promises'
import { platform } from 'node:os'
import type { Finding } from 'postern'
import { describeKey } from '../keys/describe-key.js'
import { type KeyFile, readKeyFile } from '../keys/key-file.js'

const dayMs = 86_400_000
/** NIST SP 800-57 §5.3.6 gives one to two years to a key that signs, or that encrypts much. */
const oldestDays = 365
/** A published key has nothing to wait for after ten minutes. */
const longestWaitDays = 30

/** What is wrong with a key file: the age of its keys, a rotation that stopped half-way, and its access rights. */
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
