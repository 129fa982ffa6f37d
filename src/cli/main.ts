#!/usr/bin/env node
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { commands } from './commands.js'
import { run } from './frame/run.js'

const manifest: { readonly version: string } = JSON.parse(
  readFileSync(createRequire(import.meta.url).resolve('postern/package.json'), 'utf8'),
)

const envFile = join(process.cwd(), '.env')
if (existsSync(envFile)) process.loadEnvFile(envFile)

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return await lines.question(question)
  } finally {
    lines.close()
  }
}

const code = await run({ commands, version: manifest.version }, process.argv.slice(2), {
  cwd: process.cwd(),
  env: process.env,
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
  ask: process.stdin.isTTY ? ask : null,
  now: Date.now,
  nodeVersion: process.versions.node,
  randomBytes,
})
// A pool that the configuration opened would keep the process. What was written may still be on its way to a pipe.
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)))
