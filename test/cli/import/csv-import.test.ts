import { createHash, randomUUID, scryptSync } from 'node:crypto'
import { readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { accountId } from '../../../src/cli/import/rows/old-id.js'
import { type ImportTerminal, importTerminal } from '../../support/cli/import-terminal.js'
import { openHost, outcomeOf, storedIn, storedUser } from '../../support/hosts/open-host.js'
import { goodPassword } from '../../support/people/people.js'

const salt = 'seasalt'
const tag = scryptSync(goodPassword, salt, 32, { N: 16, r: 8, p: 1 }).toString('hex')
const scryptHash = `scrypt:16:8:1$${salt}$${tag}`
const totpSecret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
const options = { legacyHashes: { scrypt: true } }
const usual = ['csv', '--file', 'users.csv', '--map']

async function prepared(lines: readonly string[]) {
  const host = await openHost(options)
  const place = await importTerminal(host, { options })
  await writeFile(join(place.folder, 'users.csv'), lines.join('\n'))
  return { host, place }
}

const read = ({ folder }: ImportTerminal, name: string) => readFile(join(folder, name), 'utf8')

async function linesOf(place: ImportTerminal, name = 'postern-import-report.jsonl') {
  const text = await read(place, name)
  return text.trim() === ''
    ? []
    : text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
}

describe('postern import csv', () => {
  it('asks about a source without users, which is seldom the one that was meant', async () => {
    const { place } = await prepared(['email'])
    const { code, err } = await place.run(...usual, 'email', '--dry-run')
    expect([code, err]).toEqual([0, expect.stringContaining('The source has no users.')])
  })

  it('makes accounts that sign in with their password, and says what became of each row', async () => {
    const id = randomUUID()
    const { host, place } = await prepared([
      'uid,mail,full name,pwd,checked,made,blocked,g',
      `${id},Ada@Example.org,"Lovelace, Ada",${scryptHash},t,2020-02-29 12:00:00,no,lovelace-1815`,
      `7,grace@example.org,,${scryptHash} ,f,,,1906`,
      '8,off@example.org,,!x8Kf9AbC,1,1577836800,2024-01-31 10:00:00,',
      'x,no address,,,,,,',
      '9,late@example.org,,,,tomorrow,,',
      '10,short@example.org',
    ])
    const map =
      'id=uid,email=mail,name=full name,passwordHash=pwd,emailVerified=checked,createdAt=made,disabled=blocked,google=g'
    const { code, out, err } = await place.run(...usual, map, '--ids', 'ids.jsonl', '--json')
    expect([code, err]).toEqual([1, expect.stringContaining('6 rows: 3 created')])
    expect(JSON.parse(out)).toEqual({
      ...{ rows: 6, created: 3, skipped: 0, emailDiffers: 0, conflicts: 0, refused: 3 },
      ...{
        partly: 1,
        resumed: false,
        dryRun: false,
        report: join(place.folder, 'postern-import-report.jsonl'),
      },
    })
    expect(await storedUser(host, 'client', 'ada@example.org')).toMatchObject({
      ...{ id, name: 'Lovelace, Ada', createdAt: Date.UTC(2020, 1, 29, 12), enabled: true },
    })
    const identities = await host.auth.client.identities.list(id)
    expect(identities).toMatchObject([
      { issuer: 'https://accounts.google.com', subject: 'lovelace-1815' },
    ])
    const off = await storedUser(host, 'client', 'off@example.org')
    expect(off).toMatchObject({ enabled: false, createdAt: Date.UTC(2020, 0, 1) })
    const body = { email: 'ada@example.org', password: goodPassword }
    const login = await host.send('POST', '/v1/auth/client/login', { body })
    expect(outcomeOf(login)).toBe('200')

    const report = await linesOf(place)
    expect(
      report.map(({ row, outcome, code: why, notCarried }) => [
        row,
        outcome,
        why,
        notCarried?.[0]?.code,
      ]),
    ).toEqual([
      ['line 3', 'created', undefined, 'identity_unverified'],
      ['line 5', 'refused', 'invalid_row', undefined],
      ['line 6', 'refused', 'unreadable_row', 'invalid_cell'],
      ['line 7', 'refused', 'unreadable_row', 'field_count'],
    ])
    expect(report[2].notCarried[0].reason).toContain('column made')
    const graceId = accountId('client csv', '7')
    expect(await linesOf(place, 'ids.jsonl')).toEqual([
      { from: id, to: id },
      { from: '7', to: graceId },
      { from: '8', to: off.id },
    ])
    expect((await storedUser(host, 'client', 'grace@example.org')).id).toBe(graceId)
    const files = ['postern-import-report.jsonl', 'postern-import.json', 'ids.jsonl']
    const written = await Promise.all(files.map((name) => read(place, name)))
    for (const secret of [tag, 'lovelace-1815', 'Lovelace', 'Ada@', 'grace@'])
      expect(written.join('')).not.toContain(secret)
  })

  it('says the same in a dry run, and writes no account and no progress', async () => {
    const { host, place } = await prepared([
      ...['email', 'ada@example.org', 'ada@example.org', 'nothing', 'grace@example.org'],
    ])
    await host.auth.client.users.create({ email: 'grace@example.org' })
    const dry = await place.run(...usual, 'email', '--batch', '1', '--dry-run', '--json')
    expect(dry.code).toBe(1)
    expect(JSON.parse(dry.out)).toMatchObject({
      rows: 4,
      created: 1,
      skipped: 1,
      conflicts: 1,
      refused: 1,
    })
    expect((await host.auth.client.users.list()).users).toHaveLength(1)
    await expect(read(place, 'postern-import.json')).rejects.toThrow('ENOENT')
    expect((await linesOf(place, 'postern-import-dry-run.jsonl')).map(({ row }) => row)).toEqual([
      'line 3',
      'line 4',
    ])
    const real = await place.run(...usual, 'email', '--batch', '1', '--json')
    const counts = ({ out }: typeof real) => ({ ...JSON.parse(out), dryRun: 0, report: '' })
    expect(counts(real)).toEqual(counts(dry))
  })

  it('builds hashes and names of several columns, and maps roles on the surface that is named', async () => {
    const { host, place } = await prepared([
      'email,salt,hash,role,first,last',
      `ada@example.org,${salt},${tag},admin,Ada,Lovelace`,
      `grace@example.org,,${tag},clerk,,Hopper`,
      'mark@example.org,,,admin,NULL,Twain',
    ])
    const template = ['--hash', 'scrypt:16:8:1$'.concat('{salt}$', '{hash}')]
    const given = ['--verified', '--role', 'admin=editor', '--surface', 'operator']
    const map = 'email,role,name={first} {last}'
    const { code, out } = await place.run(...usual, map, ...template, ...given)
    expect([code, out]).toEqual([
      1,
      expect.stringContaining('1 accounts of which something stays behind'),
    ])
    expect(await storedUser(host, 'operator', 'ada@example.org')).toMatchObject({
      ...{ passwordHash: scryptHash, systemRole: 'editor', name: 'Ada Lovelace' },
    })
    expect(await storedUser(host, 'operator', 'grace@example.org')).toMatchObject({
      ...{ passwordHash: null, systemRole: 'guest', name: 'Hopper' },
    })
    expect((await linesOf(place))[0]).toMatchObject({ notCarried: [{ code: 'role' }] })
  })

  it.each(['NULL', '\\N', '[NULL]', '(null)'])(
    'takes %s for no value if it is told to',
    async (none) => {
      const columns = ['name', 'id', 'google']
      const cells = (one: string) => columns.map((name) => (name === one ? none : '')).join(',')
      const rows = columns.map((one) => `${one}@example.org,1,${cells(one)}`)
      const { host, place } = await prepared([`email,checked,${columns.join(',')}`, ...rows])
      const map = `email,emailVerified=checked,${columns.join()}`
      expect((await place.run(...usual, map)).out).toContain(`${columns.length} refused`)
      const reasons = (await linesOf(place)).map(({ notCarried }) => notCarried[0].reason)
      expect(reasons).toEqual(
        columns.map((one) => expect.stringMatching(`column ${one}\\..*--null`)),
      )
      const told = await place.run(...usual, map, '--null', 'x', '--null', none)
      expect([told.code, told.err]).toEqual([
        0,
        expect.stringContaining(`${columns.length} created`),
      ])
      expect(await storedUser(host, 'client', 'name@example.org')).toMatchObject({ name: '' })
    },
  )

  it('keeps the ids of two files apart by --space, and says which accounts have another address', async () => {
    const { host, place } = await prepared(['id,email', '17,ada@example.org'])
    await place.run(...usual, 'id,email', '--ids', 'ids.jsonl')
    await writeFile(join(place.folder, 'users.csv'), 'id,email\n17,grace@example.org')
    const more = ['--progress', 'b.json', '--report', 'b.jsonl', '--ids', 'b-ids.jsonl']
    const mixed = await place.run(...usual, 'id,email', ...more)
    expect([mixed.code, mixed.out]).toEqual([0, expect.stringContaining('1 of them with another')])
    expect(await linesOf(place, 'b.jsonl')).toMatchObject([{ row: 'line 2', emailDiffers: true }])
    expect(await linesOf(place, 'b-ids.jsonl')).toEqual([])

    const files = ['--progress', 'c.json', '--report', 'c.jsonl', '--ids', 'c-ids.jsonl']
    const apart = await place.run(...usual, 'id,email', ...files, '--space', 'shop-b')
    expect([apart.code, apart.out]).toEqual([0, expect.stringContaining('1 created')])
    const [ada, grace] = await Promise.all(
      ['ada@example.org', 'grace@example.org'].map((email) => storedUser(host, 'client', email)),
    )
    expect(grace?.id).not.toBe(ada?.id)
    expect(await linesOf(place, 'c-ids.jsonl')).toEqual([{ from: '17', to: grace?.id }])
    const odd = await place.run(...usual, 'id,email', '--space', 'Shop B')
    expect([odd.code, odd.err]).toEqual([2, expect.stringContaining('--space must be')])
  })

  it('leaves an account out whose second factor it cannot carry, unless it is told to take it', async () => {
    const { host, place } = await prepared([
      'email,verified,totp',
      `ada@example.org,1,${totpSecret.toLowerCase().replace(/(....)/g, '$1 ')}`,
      'short@example.org,1,JBSWY3DPEHPK3PXP',
      `unverified@example.org,0,${totpSecret}`,
      `dashed@example.org,1,${totpSecret.replace(/(....)/g, '$1-')}`,
      `uri@example.org,1,otpauth://totp/Shop:uri?secret=${totpSecret}&digits=6&algorithm=SHA1`,
      `eight@example.org,1,otpauth://totp/Shop:uri?secret=${totpSecret}&digits=8`,
      `hotp@example.org,1,otpauth://hotp/Shop:uri?secret=${totpSecret}&counter=1`,
    ])
    const map = 'email,emailVerified=verified,totpSecret=totp'
    const { code } = await place.run(...usual, map)
    expect(code).toBe(1)
    expect((await linesOf(place)).map(({ row, notCarried }) => [row, notCarried[0].code])).toEqual([
      ['line 3', 'second_factor'],
      ['line 4', 'second_factor'],
      ['line 7', 'second_factor'],
      ['line 8', 'second_factor'],
    ])
    expect((await host.auth.client.users.list()).users).toHaveLength(3)
    const { id } = await storedUser(host, 'client', 'ada@example.org')
    expect(await storedIn(host, 'client').totpFactors.get(id)).toMatchObject({ confirmed: true })

    const again = await place.run(...usual, map, '--drop-second-factors', '--json')
    expect(JSON.parse(again.out)).toMatchObject({ created: 4, skipped: 3, refused: 0, partly: 4 })
  })

  it.each(['--report', '--ids', '--progress'])(
    'writes no file over its source: %s',
    async (flag) => {
      const { place } = await prepared(['mail', 'ada@example.org'])
      const given = [...usual, 'email=mail', flag, './users.csv']
      for (const more of [[], ['--dry-run']]) {
        const { code, err } = await place.run(...given, ...more)
        expect([code, err]).toEqual([2, expect.stringContaining('must name different files')])
      }
      expect(await read(place, 'users.csv')).toBe('mail\nada@example.org')
    },
  )

  it('writes no file over its source by another name of it', async () => {
    const { place } = await prepared(['mail', 'ada@example.org'])
    await symlink('users.csv', join(place.folder, 'postern-import-dry-run.jsonl'))
    const { code, err } = await place.run(...usual, 'email=mail', '--dry-run')
    expect([code, err]).toEqual([2, expect.stringContaining('must name different files')])
    expect(await read(place, 'users.csv')).toBe('mail\nada@example.org')
  })

  it('stops at a line that is no CSV, and begins again where the file was mended', async () => {
    const many = Array.from({ length: 12 }, (_, at) => `user${at}@example.org,"a\nb"`)
    const broken = ['email,note', ...many.slice(0, 7), 'x"y,', ...many.slice(7)]
    const { host, place } = await prepared(broken)
    const args = [...usual, 'email', '--batch', '5']
    const cut = await place.run(...args)
    expect([cut.code, cut.err]).toEqual([2, expect.stringContaining('Line 16:')])
    expect(JSON.parse(await read(place, 'postern-import.json'))).toMatchObject({
      ...{ finished: false, tally: { rows: 5, created: 5 } },
    })
    await writeFile(join(place.folder, 'users.csv'), ['email,note', ...many].join('\n'))
    const other = await place.run(...args)
    expect([other.code, other.err]).toEqual([2, expect.stringContaining('--restart')])
    const again = await place.run(...args, '--restart', '--json')
    expect(JSON.parse(again.out)).toMatchObject({ rows: 12, created: 7, skipped: 5 })
    expect((await host.auth.client.users.list({ limit: 50 })).users).toHaveLength(12)
  })

  it.each([
    ['no header?', `1,ada@example.org,${scryptHash}`, 'no column id, email, pwd.'],
    [
      'the line ends LF or CRLF?',
      `id,email,pwd,made\r1,ada@example.org,${scryptHash},2024\r`,
      'Line 1',
    ],
    ['--delimiter', `id;email;pwd\n1;ada@example.org;${scryptHash}`, 'no column id, email, pwd.'],
    ['has column pwd 2 times', `id,email,pwd,pwd\n1,ada@example.org,${scryptHash},`, 'Line 1'],
  ])('repeats no cell, and asks what is amiss: %s', async (question, text, problem) => {
    const { place } = await prepared([text])
    const { code, out, err } = await place.run(...usual, 'id,email,passwordHash=pwd')
    expect([code, out, err]).toEqual([2, '', expect.stringContaining(problem)])
    expect(err).toContain(question)
    expect(err).not.toMatch(/ada@|scrypt/)
  })

  it.each([
    [['csv', '--map', 'email'], 'needs --file'],
    [['csv', '--file', 'users.csv'], 'needs --map'],
    [['csv', '--file', 'gone.csv', '--map', 'email'], 'cannot be opened'],
    [[...usual, 'email=mail'], 'Line 1 has no column mail. Does it name the columns'],
    [[...usual, 'name=email'], 'must name the column of email'],
    [[...usual, 'email,kind=a'], '--map knows no "kind"'],
    [[...usual, 'email', '--hash', 'x'], 'a column in braces'],
    [[...usual, 'email,passwordHash=a', '--hash', '{a}'], 'not with both'],
    [[...usual, 'email,emailVerified=a', '--verified'], '--verified is for'],
    [[...usual, 'email,enabled=a,disabled=a'], 'not both'],
    [[...usual, 'email', '--delimiter', 'x'], '--delimiter must be'],
    [[...usual, 'email', '--role', 'admin'], '--role must be'],
    [[...usual, 'email', '--batch', '10001'], '--batch must be'],
    [[...usual, 'email', '--surface', 'both'], '--surface must be'],
    [['tsv', '--file', 'users.csv'], 'Say one of'],
    [['csv', 'more', '--file', 'users.csv'], 'Say one of'],
  ])('refuses a wrong call, and writes nothing: %j', async (args, message) => {
    const { host, place } = await prepared(['email,a', 'ada@example.org,1'])
    const { code, err } = await place.run(...args)
    expect([code, err]).toEqual([2, expect.stringContaining(message)])
    expect((await host.auth.client.users.list()).users).toEqual([])
  })
})

it('a derived id is a UUID, the same each time, and of its source alone', () => {
  const id = accountId('client table users', '7')
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(accountId('client table users', '7')).toBe(id)
  const others = [accountId('operator table users', '7'), accountId('client table users', '8')]
  expect(new Set([id, ...others]).size).toBe(3)
  const own = randomUUID()
  expect(accountId('x', own.toUpperCase())).toBe(own)
  expect(createHash('sha256').update('["client table users","7"]').digest('hex').slice(0, 8)).toBe(
    id.slice(0, 8),
  )
})
