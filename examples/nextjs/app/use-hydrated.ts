import { useEffect, useState } from 'react'

/** False until the script of the page runs: before that, a click on a rendered button would be lost. */
export function useHydrated(): boolean {
  const [isHydrated, setHydrated] = useState(false)
  useEffect(() => setHydrated(true), [])
  return isHydrated
}
