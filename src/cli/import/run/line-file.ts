import { type FileHandle, open } from 'node:fs/promises'

/** A file of JSON lines that grows, and is cut back to what is known to be in it. */
export interface LineFile {
  readonly path: string
  /** Resolves with the bytes that the file then has, all of them on the disk. */
  append(lines: readonly object[]): Promise<number>
  close(): Promise<void>
}

/** Keeps the first `bytes` of the file, and drops what an interrupted run wrote after them. */
export async function openLineFile(path: string, bytes: number): Promise<LineFile> {
  const file = await openOrMake(path)
  try {
    const { size } = await file.stat()
    let end = Math.min(size, bytes)
    await file.truncate(end)
    return {
      path,
      async append(lines) {
        if (lines.length === 0) return end
        const text = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
        await file.write(text, 0, text.length, end)
        await file.datasync()
        end += text.length
        return end
      },
      close: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

async function openOrMake(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r+')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return open(path, 'wx+', 0o600)
    }
    throw error
  }
}
