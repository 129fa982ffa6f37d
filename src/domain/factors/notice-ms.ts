/** Longer than any request that enrols a factor: after it, the process that sweeps goes on with what a request began. */
export const noticeMs = 10 * 60 * 1000
