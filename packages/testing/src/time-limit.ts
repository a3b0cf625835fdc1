/**
 * Settles as `work` does, or rejects when that takes longer than `seconds`. What is late is not stopped, only no longer waited for.
 *
 * @param what names the work in the message: `<what> did not settle within <seconds> s`.
 */
export function within<T>(seconds: number, what: string, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${what} did not settle within ${seconds} s`)), seconds * 1000)
    void work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
