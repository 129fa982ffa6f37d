import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { ownManifest } from '../../../src/cli/init/init-command.js'
import { ignored, withIgnored } from '../../../src/cli/init/project-files.js'
import { type Terminal, terminal } from '../../support/cli/terminal.js'

const flags = ['--framework', 'express', '--store', 'sqlite', '--email', 'root@example.org']
const all = [
  '.env',
  '.gitignore',
  '.postern',
  'package.json',
  'pages',
  'postern.config.ts',
  'server.ts',
  'tsconfig.json',
]
const read = ({ folder }: Terminal, name: string) => readFileSync(join(folder, name), 'utf8')

describe('postern init', () => {
  it('asks four questions and writes a host', async () => {
    const answers = ['fastify', 'postgres', ' ada@example.org ', ' The "Shop" ']
    const questions: string[] = []
    const ask = async (question: string) => {
      questions.push(question)
      return answers[questions.length - 1] ?? ''
    }
    const place = await terminal({ ask })
    const { code, out } = await place.run('init')
    expect([code, questions.length, readdirSync(place.folder).sort()]).toEqual([0, 4, all])
    expect(read(place, 'server.ts')).toContain("from 'postern/fastify'")
    expect(read(place, 'postern.config.ts')).toContain("from 'postern/postgres'")
    expect(read(place, 'postern.config.ts')).toContain(String.raw`totpIssuer: "The \"Shop\""`)
    expect(read(place, 'package.json')).toContain('create-operator ada@example.org')
    expect(out).toContain('set DATABASE_URL in .env')
    expect(out).toContain('npm run setup')
  })

  it('takes an empty answer for the first of a list', async () => {
    const place = await terminal({ ask: async () => '' })
    await place.run('init', '--email', 'a@example.org')
    expect(read(place, 'server.ts')).toContain("from 'postern/express'")
    expect(read(place, 'postern.config.ts')).toContain("from 'postern/sqlite'")
  })

  it('calls the product by the folder where nobody is asked, and refuses a name that no app shows', async () => {
    const place = await terminal()
    const { code, err } = await place.run('init', ...flags, '--name', 'x'.repeat(65))
    expect([code, err]).toEqual([2, '--name must be a text of 1 to 64 characters.'])
    await place.run('init', ...flags)
    const name = basename(place.folder)
    expect(read(place, 'postern.config.ts')).toContain(`totpIssuer: ${JSON.stringify(name)}`)
  })

  it('keeps secrets out of the repository, readable for their owner alone', async () => {
    const place = await terminal()
    await place.run('init', ...flags)
    expect(read(place, '.gitignore').split('\n')).toEqual([...ignored, ''])
    for (const path of ['.env', '.postern/keys.json', 'auth.db']) {
      expect(statSync(join(place.folder, path)).mode & 0o777).toBe(0o600)
    }
    const { signing, configKeys } = JSON.parse(read(place, '.postern/keys.json'))
    const texts = ['postern.config.ts', 'server.ts', 'package.json', '.env'].map((name) =>
      read(place, name),
    )
    for (const secret of [signing.current.split('\n')[4], configKeys[0].key]) {
      expect(texts.join()).not.toContain(secret)
    }
  })

  /** What git would commit of the folder, which is a part of a repository with these rules. */
  async function committed(rules: Readonly<Record<string, string>>, tracked: readonly string[]) {
    const place = await terminal()
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', place.folder, ...args], { encoding: 'utf8' })
    git('init', '--quiet')
    for (const [path, text] of Object.entries(rules)) {
      await writeFile(join(place.folder, path), text)
    }
    for (const path of tracked) {
      await writeFile(join(place.folder, path), '')
      git('add', '--force', path)
      await rm(join(place.folder, path))
    }
    const { code, err } = await place.run('init', ...flags)
    const found = git('ls-files', '--others', '--exclude-standard', '--deduplicate').split('\n')
    return { code, err, found, has: (path: string) => existsSync(join(place.folder, path)) }
  }

  it.each([
    ['nothing', {}],
    [
      'rules that are taken back',
      { '.gitignore': '.env\n*.db\n.postern/\n!.env\n!*.db\n!.postern/\n' },
    ],
    ['a rule of the repository that takes back all', { '.git/info/exclude': '!.*\n!*.db\n' }],
  ])('git commits no secret where there is %s', async (_, rules) => {
    const { code, found, has } = await committed(rules, [])
    expect(code).toBe(0)
    expect(found).toContain('server.ts')
    expect(found.filter((path) => /env|keys|[.]db/.test(path))).toEqual([])
    expect(has('.postern/keys.json')).toBe(true)
  })

  it('writes no secret where git tracks its file already, and says what to do', async () => {
    const { code, err, has } = await committed({}, ['.env'])
    expect([code, err]).toEqual([
      1,
      'git would commit .env, since git tracks that file. Run git rm --cached .env, then call postern init again. Only .gitignore was written.',
    ])
    expect(['.env', '.postern/keys.json', 'server.ts'].filter(has)).toEqual([])
  })

  it.each(['server.ts', 'postern.config.ts', '.env', 'tsconfig.json'])(
    'writes nothing where there is a file %s',
    async (name) => {
      const place = await terminal()
      await writeFile(join(place.folder, name), 'mine')
      const { code, err } = await place.run('init', ...flags)
      expect([code, err]).toEqual([1, `There is ${name} already. Nothing was written.`])
      expect([readdirSync(place.folder), read(place, name)]).toEqual([[name], 'mine'])
    },
  )

  it('writes nothing over at a second call', async () => {
    const place = await terminal()
    await place.run('init', ...flags)
    const keys = read(place, '.postern/keys.json')
    expect((await place.run('init', ...flags)).code).toBe(1)
    expect(read(place, '.postern/keys.json')).toBe(keys)
  })

  it('leaves package.json and the lines of .gitignore, and says what to install', async () => {
    const place = await terminal()
    await writeFile(join(place.folder, 'package.json'), '{"name":"shop"}')
    await writeFile(join(place.folder, '.gitignore'), 'dist\n.env')
    const { out } = await place.run(
      'init',
      '--framework',
      'hono',
      '--store',
      'mongo',
      '--email',
      'a@b.example',
    )
    expect(read(place, 'package.json')).toBe('{"name":"shop"}')
    expect(read(place, '.gitignore')).toBe('dist\n.env\nnode_modules/\n.postern/\n*.db\n*.db-*\n')
    expect(out).toContain('npm install postern @hono/node-server hono mongodb')
    expect(out).toContain('npx --no-install postern create-operator a@b.example')
  })

  it('tells the same to programs', async () => {
    const place = await terminal()
    const { written, next } = JSON.parse((await place.run('init', ...flags, '--json')).out)
    expect(written).toContain('server.ts')
    expect(next[0]).toBe('npm install')
  })

  it.each([
    ['20.19.0', false],
    ['22.17.1', false],
    ['22.18.0', true],
    ['23.5.0', false],
    ['23.6.0', true],
    ['24.0.0', true],
  ])('says first that Node %s is too old for the host, if it is', async (nodeVersion, isEnough) => {
    const place = await terminal({ nodeVersion })
    const { next } = JSON.parse((await place.run('init', ...flags, '--json')).out)
    expect(next[0]).toBe(
      isEnough
        ? 'npm install'
        : `install Node 22.18 or newer: this is ${nodeVersion}, which cannot run the TypeScript of this folder`,
    )
  })

  it('names every answer that is missing where there is no terminal', async () => {
    const place = await terminal()
    expect((await place.run('init', ...flags.slice(0, 2))).err).toBe(
      'There is no terminal to ask: give --store, --email.',
    )
  })

  it.each([
    ['no answer where there is no terminal', []],
    ['another framework', ['--framework', 'restify', ...flags.slice(2)]],
    ['another store', ['--framework', 'koa', '--store', 'oracle', '--email', 'a@example.org']],
    ['what is no address', [...flags.slice(0, 4), '--email', 'root']],
    ['an address that a shell would read', [...flags.slice(0, 4), '--email', 'a@b.example;ls']],
    ['a word', [...flags, 'shop']],
  ])('refuses %s, and writes nothing', async (_, args) => {
    const place = await terminal()
    expect((await place.run('init', ...args)).code).toBe(2)
    expect(readdirSync(place.folder)).toEqual([])
  })
})

it('adds each line to .gitignore once', () => {
  const once = withIgnored('')
  expect(withIgnored(once)).toBe(once)
  expect(withIgnored('node_modules')).toContain('node_modules\nnode_modules/')
})

it('names a version for each package, which the one of the tests satisfies', async () => {
  const { versions } = await ownManifest()
  const root = fileURLToPath(new URL('../../../', import.meta.url))
  for (const [name, range] of Object.entries(versions)) {
    const path = join(root, 'node_modules', name, 'package.json')
    if (!existsSync(path)) continue
    const [major] = JSON.parse(readFileSync(path, 'utf8')).version.split('.')
    expect(`${name} ${range}`).toMatch(new RegExp(`(\\^|>=)${major}\\.|>=`))
  }
})
