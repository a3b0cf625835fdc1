/**
 * Calls what a user registered, and for which nobody waits: what it throws, or rejects with later, goes to `onError`. Also an async function is a plain
 * callback by its type, and its failure must not end the process.
 *
 * @param onError must not throw.
 */
export function callSafely(call: () => unknown, onError: (error: unknown) => void): void {
  try {
    Promise.resolve(call()).catch(onError)
  } catch (error) {
    onError(error)
  }
}
