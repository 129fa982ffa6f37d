import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Refusal } from '../frame/refusal.js'
import { usualKeyFile } from '../keys/key-file.js'
import { withIgnored, withLines } from './project-files.js'

/** What holds a secret, and the rule that ignores it whatever stands before. */
const secrets = new Map([
  ['.env', '/.env'],
  [usualKeyFile, '/.postern/'],
  ['auth.db', '/*.db'],
  ['auth.db-wal', '/*.db-*'],
])

/**
 * Before any secret is in the folder. A rule further down in the file, or of another one, may take back what it says:
 * where git is there, its word counts.
 */
export async function ignoreSecrets(folder: string): Promise<void> {
  const path = join(folder, '.gitignore')
  const text = existsSync(path) ? await readFile(path, 'utf8') : ''
  const changed = withIgnored(text)
  if (changed !== text) await writeFile(path, changed)
  const open = await notIgnored(folder)
  if (open.length === 0) return
  const rules = open.flatMap((secret) => secrets.get(secret) ?? [])
  // The last rule that matches decides, and this file before those of the folders above.
  await writeFile(path, withLines(changed, rules))
  const left = await notIgnored(folder)
  if (left.length === 0) return
  throw new Refusal(
    `git would commit ${left.join(', ')}, since git tracks that file. Run git rm --cached ${left.join(' ')}, then ` +
      'call postern init again. Only .gitignore was written.',
  )
}

/** The secrets that git would commit: none where there is no git, or no repository. */
function notIgnored(folder: string): Promise<readonly string[]> {
  const paths = [...secrets.keys()]
  return new Promise((resolve) => {
    execFile('git', ['check-ignore', '--', ...paths], { cwd: folder }, (error, out) => {
      // 1: it ignores none of them. Any other failure: nobody can say.
      const isAnswered = error === null || error.code === 1
      const lines = out.split('\n')
      resolve(isAnswered ? paths.filter((path) => !lines.includes(path)) : [])
    })
  })
}
