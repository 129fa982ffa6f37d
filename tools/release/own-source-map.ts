interface SourceMap {
  readonly sources: readonly string[]
  readonly sourcesContent?: readonly (string | null)[]
}

/** A source map that holds the sources of this package alone: of packages that are bundled, it has the names. */
export function ownSourceMap(text: string): string {
  const map: SourceMap = JSON.parse(text)
  const sourcesContent = map.sourcesContent?.map((content, index) =>
    map.sources[index]?.includes('node_modules/') ? null : content,
  )
  return JSON.stringify({ ...map, sourcesContent })
}
