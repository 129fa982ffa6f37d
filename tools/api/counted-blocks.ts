import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('../../', import.meta.url)
const biome = fileURLToPath(new URL('node_modules/@biomejs/biome/bin/biome', root))

/** What a reader of the docs has to write for one thing. */
interface Counted {
  readonly name: string
  /** Below `docs`. */
  readonly page: string
  /** The line on the page whose next block it is. */
  readonly after: string
  readonly language: 'ts' | 'tsx'
  /** Lines that it may have. */
  readonly most: number
}

export interface CountedBlock extends Counted {
  /** As the formatter leaves it, without empty lines. */
  readonly code: string
  readonly lines: number
}

/** The hosts of the page on quickstarts, with what its reader installs first. */
const hosts = [
  ['Express', 'express @types/express'],
  ['Fastify', 'fastify'],
  ['Koa', 'koa @types/koa'],
  ['Hono', 'hono @hono/node-server'],
]

const counted: readonly Counted[] = [
  ...hosts.map(([framework, packages]) => ({
    name: `a host of ${framework} with a guarded route`,
    page: 'quickstarts.md',
    after: `\`npm install ${packages}\``,
    language: 'ts' as const,
    most: 40,
  })),
  {
    ...{ name: 'a front end: register, verify, sign in with TOTP, forgot, sign out' },
    ...{ page: 'client.md', after: '## A whole front end', language: 'ts', most: 60 },
  },
  {
    ...{ name: 'a guarded page of Next.js', page: 'server-rendered.md' },
    ...{ after: 'A guarded page:', language: 'tsx', most: 10 },
  },
  {
    ...{ name: 'a client of a machine', page: 'service-accounts.md' },
    ...{ after: '### With an OAuth library', language: 'ts', most: 6 },
  },
  {
    ...{ name: 'an import of a thousand users with bcrypt hashes', page: 'accounts.md' },
    ...{ after: '## Import existing users', language: 'ts', most: 12 },
  },
]

/** By the repository's formatter: 100 columns. */
function normalised(language: string, code: string): string {
  const form = ['format', `--stdin-file-path=test/block.${language}`]
  return execFileSync(process.execPath, [biome, ...form], {
    cwd: fileURLToPath(root),
    input: code,
    encoding: 'utf8',
  })
}

function codeOf({ page, after, language }: Counted): string {
  const text = readFileSync(new URL(`docs/${page}`, root), 'utf8')
  const [, rest] = text.split(`\n${after}\n`)
  const [, own, code = ''] = /^```(\w+)\n(.*?)^```$/ms.exec(rest ?? '') ?? []
  if (own !== language) throw new Error(`docs/${page}, "${after}": no block of ${language}`)
  const lines = normalised(language, code).split('\n')
  const long = lines.find((line) => line.length > 100)
  if (long !== undefined) throw new Error(`docs/${page}: more than 100 columns: ${long}`)
  return lines.filter((line) => line.trim() !== '').join('\n')
}

/** The blocks of the docs that are counted, imports and comments included. */
export function countedBlocks(): readonly CountedBlock[] {
  return counted.map((each) => {
    const code = codeOf(each)
    return { ...each, code, lines: code.split('\n').length }
  })
}
