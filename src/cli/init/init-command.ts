import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Call, Command } from '../frame/command.js'
import { Refusal } from '../frame/refusal.js'
import { newKeyFile } from '../keys/generate-keys.js'
import { createKeyFile, usualKeyFile } from '../keys/key-file.js'
import type { Choices } from './choices.js'
import { configFile } from './config-file.js'
import { ownManifest } from './own-manifest.js'
import { pageFile } from './page-file.js'
import { envFile, packageFile, packagesOf, tsconfigFile, withIgnored } from './project-files.js'
import { readChoices } from './read-choices.js'
import { serverFile } from './server-file.js'

export const initCommand: Command = {
  help: `Usage: postern init [--framework NAME] [--store NAME] [--email ADDRESS]

Writes a host into this folder: postern.config.ts, server.ts, a page for links
to a password, .env, tsconfig.json, an empty auth.db for SQLite, and the keys in
${usualKeyFile}.
What must not reach a repository is put into .gitignore first. It asks three
questions, unless the flags answer them:

  --framework  express, fastify, koa or hono
  --store      sqlite (needs nothing), postgres, mariadb or mongo
  --email      the address of the first operator

No file is written over: where one of them is there, nothing is written. An
existing package.json stays, and the command says what to install. The host runs
on Node 22.18 or newer. Nothing is installed or started.`,
  flags: {
    framework: { type: 'string' },
    store: { type: 'string' },
    email: { type: 'string' },
  },
  async run(call) {
    if (call.words.length > 0) throw new Refusal('postern init takes options, and no words.', 2)
    const choices = await readChoices(call)
    const { version, versions } = await ownManifest()
    const files = new Map([
      ['postern.config.ts', configFile(choices.store)],
      ['server.ts', serverFile(choices.framework)],
      ['pages/reset-password.html', pageFile()],
      ['.env', envFile(choices)],
      ['tsconfig.json', tsconfigFile()],
    ])
    const hasManifest = existsSync(join(call.cwd, 'package.json'))
    // Empty, and for its owner alone: SQLite would let every user of the machine read it.
    if (choices.store === 'sqlite') files.set('auth.db', '')
    if (!hasManifest) files.set('package.json', packageFile(choices, versions, version))
    refuseExisting(call, [...files.keys(), usualKeyFile])
    await ignoreSecrets(call)
    await createKeyFile(join(call.cwd, usualKeyFile), await newKeyFile(call))
    for (const [path, text] of files) await writeNew(join(call.cwd, path), text)
    const written = ['.gitignore', usualKeyFile, ...files.keys()]
    const next = nextSteps(hasManifest, choices)
    if (call.json) call.out(JSON.stringify({ written, next }))
    else
      call.out(
        [`Wrote ${written.join(', ')}.`, 'Next:', ...next.map((step) => `  ${step}`)].join('\n'),
      )
    return 0
  },
}

function refuseExisting({ cwd }: Call, paths: readonly string[]): void {
  const found = paths.filter((path) => existsSync(join(cwd, path)))
  if (found.length === 0) return
  throw new Refusal(`There is ${found.join(', ')} already. Nothing was written.`)
}

/** Before any secret is in the folder. */
async function ignoreSecrets({ cwd }: Call): Promise<void> {
  const path = join(cwd, '.gitignore')
  const text = existsSync(path) ? await readFile(path, 'utf8') : ''
  const changed = withIgnored(text)
  if (changed !== text) await writeFile(path, changed)
}

/** Refuses a file that came into being meanwhile. */
async function writeNew(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const mode = /\.(?:env|db)$/.test(path) ? 0o600 : 0o644
  await writeFile(path, text, { flag: 'wx', mode })
}

function nextSteps(hasManifest: boolean, choices: Choices): readonly string[] {
  const { dependencies, devDependencies } = packagesOf(choices)
  const database = choices.store === 'sqlite' ? [] : ['set DATABASE_URL in .env']
  const run = ['npm start', 'open the link, choose a password, and sign in']
  if (!hasManifest) return [...database, 'npm install', 'npm run setup   # prints a link', ...run]
  return [
    ...database,
    `npm install postern ${dependencies.join(' ')}`.trim(),
    `npm install --save-dev ${devDependencies.join(' ')}`,
    'npx --no-install postern migrate --apply',
    `npx --no-install postern create-operator ${choices.email}`,
    'node --env-file=.env server.ts   # package.json needs "type": "module"',
    'open the link, choose a password, and sign in',
  ]
}
