import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import type { ImportBatch, ImportReport, ImportResult } from 'postern'
import { describe, expect, it, onTestFinished } from 'vitest'
import { csvSource } from '../../../../src/cli/import/csv/csv-source.js'
import { columnMap } from '../../../../src/cli/import/rows/column-map.js'
import { dryRunReport } from '../../../../src/cli/import/run/kept-bytes.js'
import { type ImportRun, runImport } from '../../../../src/cli/import/run/run-import.js'

const rules = { roles: new Map<string, string>(), dropSecondFactors: false }

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'postern-import-'))
  onTestFinished(() => rm(made, { recursive: true, force: true }))
  return made
}

/** Accounts by address, as the library makes them: an address is taken once, and every third row is refused. */
function library() {
  const accounts = new Map<string, string>()
  const place = (email: string): ImportResult => {
    const known = accounts.get(email)
    if (known !== undefined) return { outcome: 'skipped', id: known, emailDiffers: false }
    if (/[369]@/.test(email)) return { outcome: 'refused', code: 'invalid_row', reason: 'No.' }
    accounts.set(email, `id of ${email}`)
    return { outcome: 'created', id: `id of ${email}` }
  }
  return {
    accounts,
    async importUsers({ users }: ImportBatch): Promise<ImportReport> {
      const results = users.map(({ email }) => place(email))
      return { created: 0, skipped: 0, conflicts: 0, refused: 0, results }
    },
  }
}

const emailOf = (at: number) => `user${at}@example.org`

/** A run over a file with line ends in its fields, opened as a process of its own opens it. */
async function runOver(
  place: string,
  given: Pick<ImportRun, 'importUsers' | 'batchSize'> & Partial<ImportRun>,
  report = 'report.jsonl',
) {
  const columns = columnMap({
    ...{ map: 'email', hash: null, nulls: [], verified: false, space: 'client csv', rules },
  })
  const source = await csvSource({ path: join(place, 'users.csv'), delimiter: ',', columns })
  try {
    return await runImport({
      ...{ source, surface: 'client', allowRoles: [], dryRun: false, restart: false, ...given },
      files: {
        progress: join(place, 'progress.json'),
        report: join(place, report),
        ids: join(place, 'ids.jsonl'),
      },
      ...{ tell: () => undefined, now: () => 0 },
    })
  } finally {
    await source.close()
  }
}

async function linesOf(path: string): Promise<readonly Record<string, string>[]> {
  const text = await readFile(path, 'utf8')
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

describe('an import that is cut off, wherever it is', () => {
  it('goes on after the last batch, and reports each row once', async () => {
    const cases = fc.record({
      rows: fc.integer({ min: 0, max: 40 }),
      batchSize: fc.integer({ min: 1, max: 12 }),
      // How many batches each run does, and whether the last one is cut off after its accounts were made.
      runs: fc.array(fc.tuple(fc.integer({ min: 0, max: 4 }), fc.boolean()), { maxLength: 4 }),
    })
    await fc.assert(
      fc.asyncProperty(cases, async ({ rows, batchSize, runs }) => {
        const place = await mkdtemp(join(tmpdir(), 'postern-import-'))
        try {
          const lines = Array.from({ length: rows }, (_, at) => `${emailOf(at)},"a\r\nb ""${at}"""`)
          await writeFile(join(place, 'users.csv'), ['email,note', ...lines].join('\n'))
          const { accounts, importUsers } = library()
          for (const [batches, isMade] of runs) {
            let done = 0
            const cutOff = async (batch: ImportBatch) => {
              if (done < batches) {
                done += 1
                return importUsers(batch)
              }
              if (isMade) await importUsers(batch)
              throw new Error('cut off')
            }
            const run = runOver(place, { importUsers: cutOff, batchSize })
            const isCut = await run.then(
              () => false,
              () => true,
            )
            if (!isCut) break
            // As a process that was killed while it wrote leaves them.
            await writeFile(join(place, 'report.jsonl'), '{"row":"half', { flag: 'a' })
            await writeFile(join(place, 'ids.jsonl'), '{"from":"x"}\n{', { flag: 'a' })
            await writeFile(join(place, 'progress.json.new'), '{"tal')
          }
          const outcome = await runOver(place, { importUsers, batchSize })
          const refused = Array.from({ length: rows }, (_, at) => at).filter((at) =>
            /[369]$/.test(String(at)),
          )
          expect(outcome.rows).toBe(rows)
          expect(outcome.created + outcome.skipped).toBe(rows - refused.length)
          expect(outcome.refused).toBe(refused.length)
          expect(accounts.size).toBe(rows - refused.length)
          const reported = (await linesOf(join(place, 'report.jsonl'))).map(({ row }) => row)
          expect(reported).toEqual(refused.map((at) => `line ${2 * at + 2}`))
          const ids = (await linesOf(join(place, 'ids.jsonl'))).map(({ to }) => to)
          // A run after the last one adds no line that is there.
          expect(ids).toEqual([...accounts.values()])
        } finally {
          await rm(place, { recursive: true, force: true })
        }
      }),
      { numRuns: 150 },
    )
  })

  it('begins again where it came to its end: users may have come since', async () => {
    const place = await folder()
    const { importUsers } = library()
    await writeFile(join(place, 'users.csv'), 'email\nuser1@example.org\nuser3@example.org')
    expect(await runOver(place, { importUsers, batchSize: 1 })).toMatchObject({
      created: 1,
      resumed: false,
    })
    expect(await runOver(place, { importUsers, batchSize: 1 })).toMatchObject({
      ...{ rows: 2, created: 0, skipped: 1, refused: 1, resumed: false },
    })
    expect(await linesOf(join(place, 'report.jsonl'))).toHaveLength(1)
    expect(await linesOf(join(place, 'ids.jsonl'))).toHaveLength(1)
  })

  it('notes each id once, and keeps those that the rows give no more, also where it is cut off', async () => {
    const place = await folder()
    const { accounts, importUsers } = library()
    const rows = [1, 2, 4].map(emailOf)
    await writeFile(join(place, 'users.csv'), ['email', ...rows].join('\n'))
    await runOver(place, { importUsers, batchSize: 1 })
    let calls = 0
    // Refuses the first row now, and is cut off before the last one.
    const changed = async (batch: ImportBatch): Promise<ImportReport> => {
      calls += 1
      if (calls === 3) throw new Error('cut off')
      const refused: ImportResult = { outcome: 'refused', code: 'invalid_row', reason: 'No.' }
      return calls === 1
        ? { ...(await importUsers(batch)), results: [refused] }
        : importUsers(batch)
    }
    await expect(runOver(place, { importUsers: changed, batchSize: 1 })).rejects.toThrow('cut off')
    expect(await runOver(place, { importUsers, batchSize: 1 })).toMatchObject({ resumed: true })
    await runOver(place, { importUsers, batchSize: 1, restart: true })
    const ids = (await linesOf(join(place, 'ids.jsonl'))).map(({ to }) => to)
    expect(ids).toEqual([...accounts.values()])
  })

  it('notes an id again where a later line with its "from" says another one', async () => {
    const place = await folder()
    await writeFile(join(place, 'users.csv'), 'email\nuser1@example.org')
    for (const id of ['one', 'two', 'two', 'one']) {
      const results: readonly ImportResult[] = [{ outcome: 'skipped', id, emailDiffers: false }]
      const report = { created: 0, skipped: 1, conflicts: 0, refused: 0, results }
      await runOver(place, { importUsers: async () => report, batchSize: 1 })
    }
    const ids = (await linesOf(join(place, 'ids.jsonl'))).map(({ to }) => to)
    expect(ids).toEqual(['one', 'two', 'one'])
  })

  it('goes on with the progress of a version that did not count accounts with another address', async () => {
    const place = await folder()
    await writeFile(join(place, 'users.csv'), 'email\nuser1@example.org')
    const { importUsers } = library()
    await runOver(place, { importUsers, batchSize: 1 })
    const path = join(place, 'progress.json')
    const { tally, ...progress } = JSON.parse(await readFile(path, 'utf8'))
    const { emailDiffers, ...older } = tally
    expect(emailDiffers).toBe(0)
    await writeFile(path, JSON.stringify({ ...progress, tally: older }))
    expect(await runOver(place, { importUsers, batchSize: 1 })).toMatchObject({
      ...{ skipped: 1, emailDiffers: 0 },
    })
  })

  it('reports an account that has another address, and gives its id to no row', async () => {
    const place = await folder()
    await writeFile(join(place, 'users.csv'), 'email\nuser1@example.org\nuser2@example.org')
    const results: readonly ImportResult[] = [
      { outcome: 'skipped', id: 'one', emailDiffers: true },
      { outcome: 'skipped', id: 'two', emailDiffers: false },
    ]
    const report = { created: 0, skipped: 2, conflicts: 0, refused: 0, results }
    const outcome = await runOver(place, { importUsers: async () => report, batchSize: 2 })
    expect(outcome).toMatchObject({ rows: 2, skipped: 2, emailDiffers: 1 })
    const line = { row: 'line 2', outcome: 'skipped', id: 'one', emailDiffers: true }
    expect(await linesOf(join(place, 'report.jsonl'))).toEqual([line])
    expect(await linesOf(join(place, 'ids.jsonl'))).toEqual([{ from: 'line 3', to: 'two' }])
  })

  it('begins the files of another import anew which it throws away', async () => {
    const place = await folder()
    const { importUsers } = library()
    await writeFile(
      join(place, 'users.csv'),
      'email\nuser1@example.org\nuser3@example.org\nuser4@example.org',
    )
    const cutOff = async (batch: ImportBatch) => {
      if (batch.users.some(({ email }) => email === emailOf(4))) throw new Error('cut off')
      return importUsers(batch)
    }
    await expect(runOver(place, { importUsers: cutOff, batchSize: 1 })).rejects.toThrow('cut off')
    await writeFile(join(place, 'users.csv'), 'email\nuser2@example.org')
    await expect(runOver(place, { importUsers, batchSize: 1 })).rejects.toThrow('--restart')
    await runOver(place, { importUsers, batchSize: 1, restart: true })
    expect(await linesOf(join(place, 'report.jsonl'))).toEqual([])
    expect(await linesOf(join(place, 'ids.jsonl'))).toEqual([
      { from: 'line 2', to: `id of ${emailOf(2)}` },
    ])
    // That one came to its end: what it noted of accounts stays.
    await writeFile(join(place, 'users.csv'), 'email\nuser5@example.org')
    await expect(runOver(place, { importUsers, batchSize: 1, restart: true })).rejects.toThrow(
      '--ids',
    )
  })

  it.each(['report.jsonl', 'ids.jsonl'])(
    'leaves what an earlier import of another source wrote: %s',
    async (name) => {
      const place = await folder()
      const { accounts, importUsers } = library()
      await writeFile(join(place, 'users.csv'), 'email\nuser1@example.org\nuser3@example.org')
      await runOver(place, { importUsers, batchSize: 1 })
      const other = name === 'ids.jsonl' ? 'report.jsonl' : 'ids.jsonl'
      await rm(join(place, other))
      const before = await readFile(join(place, name), 'utf8')
      await writeFile(join(place, 'users.csv'), 'email\nuser2@example.org')
      const run = () => runOver(place, { importUsers, batchSize: 1 })
      await expect(run()).rejects.toThrow(
        `${join(place, name)} holds what this import did not write, and stays as it is. Name another file with --${name.split('.')[0]}, or move this one away.`,
      )
      expect([await readFile(join(place, name), 'utf8'), accounts.size]).toEqual([before, 1])
      await expect(readFile(join(place, other))).rejects.toThrow('ENOENT')
      await rename(join(place, name), join(place, `old-${name}`))
      expect(await run()).toMatchObject({ created: 1 })
      expect(await readFile(join(place, `old-${name}`), 'utf8')).toBe(before)
    },
  )

  it.each([
    [false, false],
    [true, false],
    [false, true],
    [true, true],
  ])('cuts no other file (dry run: %s, restart: %s)', async (dryRun, restart) => {
    const place = await folder()
    const { accounts, importUsers } = library()
    await writeFile(join(place, 'users.csv'), 'email\nuser1@example.org')
    await writeFile(join(place, 'report.jsonl'), 'SECRET=1')
    const run = runOver(place, { importUsers, batchSize: 1, dryRun, restart })
    await expect(run).rejects.toThrow(
      dryRun ? `a dry run replaces only ${dryRunReport}. Name another` : 'did not write',
    )
    expect([await readFile(join(place, 'report.jsonl'), 'utf8'), accounts.size]).toEqual([
      ...['SECRET=1', 0],
    ])
    expect((await readdir(place)).sort()).toEqual(['report.jsonl', 'users.csv'])
  })

  it('cuts no file of its own that was changed since it came to its end', async () => {
    const place = await folder()
    const { importUsers } = library()
    await writeFile(join(place, 'users.csv'), 'email\nuser1@example.org')
    const run = () => runOver(place, { importUsers, batchSize: 1 })
    await run()
    await writeFile(join(place, 'ids.jsonl'), '{"from":"mine"}\n', { flag: 'a' })
    await expect(run()).rejects.toThrow('--ids')
    expect(await linesOf(join(place, 'ids.jsonl'))).toHaveLength(2)
  })

  it('replaces what an earlier dry run left at its usual place', async () => {
    const place = await folder()
    const { importUsers } = library()
    const run = () => runOver(place, { importUsers, batchSize: 1, dryRun: true }, dryRunReport)
    for (const rows of ['user3@example.org\nuser6@example.org', 'user9@example.org']) {
      await writeFile(join(place, 'users.csv'), `email\n${rows}`)
      await run()
      expect(await linesOf(join(place, dryRunReport))).toHaveLength(rows.split('\n').length)
    }
  })

  it('takes no other file for its progress where it begins from the start either', async () => {
    const place = await folder()
    await writeFile(join(place, 'users.csv'), 'email\nuser1@example.org')
    await writeFile(join(place, 'progress.json'), 'mine')
    const { importUsers } = library()
    await expect(runOver(place, { importUsers, batchSize: 1, restart: true })).rejects.toThrow(
      'is no progress of an import',
    )
    expect(await readFile(join(place, 'progress.json'), 'utf8')).toBe('mine')
  })

  it.each([
    '',
    '{',
    '[]',
    '{"fingerprint":"x"}',
    '{"fingerprint":"x","surface":"client","cursor":7}',
  ])('takes no other file for its progress: %s', async (text) => {
    const place = await folder()
    await writeFile(join(place, 'users.csv'), 'email\nuser1@example.org')
    await writeFile(join(place, 'progress.json'), text)
    const { accounts, importUsers } = library()
    await expect(runOver(place, { importUsers, batchSize: 1 })).rejects.toThrow(
      'is no progress of an import',
    )
    expect([accounts.size, await readFile(join(place, 'progress.json'), 'utf8')]).toEqual([0, text])
  })
})
