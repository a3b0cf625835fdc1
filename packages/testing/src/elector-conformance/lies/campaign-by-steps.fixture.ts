import type { FakeBackend } from './fake-backend.fixture.js'
import type { HonestElector } from './honest-elector.fixture.js'

/** An honest campaign whose attempts do not see the signal, for liars that lie about the signal of an attempt alone. */
export async function campaignBySteps(elector: HonestElector, backend: FakeBackend, signal: AbortSignal | undefined): Promise<void> {
  for (;;) {
    signal?.throwIfAborted()
    const seen = backend.changes
    if (await elector.tryAcquire()) return
    await backend.changeAfter(seen, signal)
  }
}
