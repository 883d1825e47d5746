"""Failures and approaches that are the same, and those that are not."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from spiral.loop.signature import same_approach, same_failure, signature, sketch, telling
from spiral.work import Check, CheckResult

PYTEST = """\
============================= test session starts ==============================
platform linux -- Python 3.11.7, pytest-8.4.1, pluggy-1.6.0
rootdir: /home/ada/.cache/spiral/1f2e3d/checkout
collected 14 items

tests/test_cart.py .........F....                                        [100%]

=================================== FAILURES ===================================
____________________________ test_total_with_discount ___________________________

tmp_path = PosixPath('/tmp/pytest-of-ada/pytest-12/test_total_with_discount0')

    def test_total_with_discount(tmp_path):
        cart = Cart(discount=0.1)
        cart.add("tea", 4.50)
>       assert cart.total() == pytest.approx(4.05)
E       assert 4.5 == 4.05 ± 4.0e-06
E         comparison failed
E        +  where 4.5 = <bound method Cart.total of <shop.cart.Cart object at 0x7f3a5c1d2e50>>()

tests/test_cart.py:41: AssertionError
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_total_with_discount - assert 4.5 == 4.05 ± 4.0e-06
========================= 1 failed, 13 passed in 0.42s =========================
"""
PYTEST_LATER = (
    PYTEST.replace("0x7f3a5c1d2e50", "0x7fa1b2c3d4e5").replace("pytest-12", "pytest-131").replace("0.42s", "3.07s")
    .replace("test_cart.py:41", "test_cart.py:57").replace("collected 14", "collected 19")
    .replace("13 passed", "18 passed")
    .replace("/home/ada/.cache/spiral/1f2e3d/checkout", "/work/other/checkout-2").replace("4.5 ==", "4.49 ==")
)  # fmt: skip
TSC = """\
src/cart/total.ts(41,7): error TS2322: Type 'string' is not assignable to type 'number'.
src/cart/total.ts(52,11): error TS2304: Cannot find name 'Discount'.
Found 2 errors in the same file, starting at: src/cart/total.ts:41
"""
CARGO = """\
   Compiling shop v0.1.0 (/home/ada/shop)
error[E0382]: borrow of moved value: `items`
  --> src/cart.rs:41:20
   |
40 |     let total = sum(items);
   |                     ----- value moved here
41 |     println!("{}", items.len());
   |                    ^^^^^ value borrowed here after move

For more information about this error, try `rustc --explain E0382`.
error: could not compile `shop` (lib) due to 1 previous error
"""
GO = """\
--- FAIL: TestTotal (0.00s)
    cart_test.go:41: got 450, want 405
panic: runtime error: index out of range [3] with length 3 [recovered]
goroutine 19 [running]:
main.total(0xc000012345, 0x3)
	/home/ada/shop/cart.go:33 +0x1d
FAIL
FAIL	example.org/shop/cart	0.004s
FAIL
"""
CARGO_TEST = """\
running 2 tests
test cart::tests::empty ... ok
test cart::tests::total ... FAILED

failures:

---- cart::tests::total stdout ----
thread 'cart::tests::total' panicked at src/cart.rs:41:9:
assertion `left == right` failed
  left: 450
 right: 405
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""
JEST = """\
FAIL src/cart.test.ts (5.231 s)
  ● total › applies the discount

    expect(received).toBe(expected) // Object.is equality

    Expected: 405
    Received: 450

      at Object.<anonymous> (src/cart.test.ts:41:25)

Tests:       1 failed, 12 passed, 13 total
Time:        6.02 s
"""


def failed(output: str, name: str = "tests") -> CheckResult:
    return CheckResult(check=Check(name=name, command=name), sha="a", passed=False, exit_code=1, output=output)


def passed(name: str) -> CheckResult:
    return CheckResult(check=Check(name=name, command=name), sha="a", passed=True, exit_code=0, output="error? no")


@dataclass(frozen=True)
class Past:
    sketch: tuple[str, ...] = ()
    signature: str = ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (PYTEST, PYTEST_LATER),
        (TSC, TSC.replace("src/cart", "/tmp/x9/src/cart").replace("41", "44").replace("(52,11)", "(9,3)")),
        (CARGO, CARGO.replace("41", "88").replace("/home/ada/shop", "/srv/shop")),
        (CARGO_TEST, CARGO_TEST.replace("41:9", "44:9").replace("0.00s", "1.52s").replace("450", "449")),
        (GO, GO.replace("0.004s", "1.2s").replace("0xc000012345", "0xc0000aaaaa").replace("(0.00s)", "(0.31s)")),
        (JEST, JEST.replace("5.231 s", "812 ms").replace("12 passed, 13", "14 passed, 15").replace("41:25", "45:25")),
        ("\x1b[31mError: boom\x1b[0m\n", "Error: boom\n"),
        ("2026-11-18T12:05:01Z ERROR db refused\n", "2026-12-01 09:00:00,123 ERROR db refused\n"),
        ("Error: no such file, open '/tmp/tmpab12cd34/x'", "Error: no such file, open '/tmp/tmpzz99yy88/x'"),
        ("Error in commit 9f8e7d6c5b4a\n", "Error in commit 0a1b2c3d4e5f\n"),
        ("\n[ended: it took longer than 600 s]\n", "\n[ended: it took longer than 0.5 s]\n"),
        ("fail " + "x\n" * 3, "fail x\nx\nx\n"),
    ],
)  # fmt: skip
def test_the_same_failure_in_another_place_at_another_time_is_the_same(one: str, other: str) -> None:
    assert signature([failed(one)]) == signature([failed(other)]) != ""


def test_other_failures_are_others() -> None:
    outputs = [
        PYTEST, TSC, CARGO, CARGO_TEST, GO, JEST,
        PYTEST.replace("test_total_with_discount", "test_total"),
        PYTEST.replace("assert 4.5 == 4.05 ± 4.0e-06", "AttributeError: 'Cart' object has no attribute 'total'"),
        TSC.replace("TS2322: Type 'string'", "TS2741: Property 'name'"),
        TSC.replace("total.ts", "price.ts"),
        CARGO.replace("borrow of moved value: `items`", "borrow of moved value: `cart`"),
        "make: nothing to be done\n", "",
    ]  # fmt: skip
    assert len({signature([failed(output)]) for output in outputs}) == len(outputs)


def test_the_names_of_the_failing_checks_count_and_their_order_does_not() -> None:
    lint, unit = failed("error: x", "lint"), failed("error: x", "unit")
    assert signature([lint, unit]) == signature([unit, passed("types"), lint])
    assert len({signature([lint]), signature([unit]), signature([lint, unit])}) == 3


def test_nothing_that_failed_has_no_signature() -> None:
    assert signature([]) == signature([passed("unit")]) == ""


def test_the_telling_lines_say_what_went_wrong() -> None:
    assert telling(TSC) == (
        "total.ts(#): error TS2304: Cannot find name 'Discount'.",
        "total.ts(#): error TS2322: Type 'string' is not assignable to type 'number'.",
    )
    assert telling(GO) == (
        "--- FAIL: TestTotal (#)",
        "FAIL cart #",
        "panic: runtime error: index out of range [#] with length # [recovered]",
    )


DIFF = """\
diff --git a/shop/cart.py b/shop/cart.py
--- a/shop/cart.py
+++ b/shop/cart.py
@@ -10,6 +10,9 @@ class Cart:
     def total(self):
-        return sum(self.prices)
+        total = sum(self.prices)
+        if self.discount:
+            total *= 1 - self.discount
+        return total
"""


def test_a_diff_that_only_moved_or_was_formatted_is_the_same_approach() -> None:
    moved = DIFF.replace("@@ -10,6 +10,9 @@", "@@ -90,6 +93,9 @@").replace("        ", "\t").replace("1 - ", "1-")
    assert sketch(moved) == sketch(DIFF) and len(sketch(DIFF)) == 5
    assert same_approach(Past(sketch(DIFF)), Past(sketch(moved)))


def test_a_detail_more_is_the_same_approach_and_another_way_is_not() -> None:
    one = "\n".join(f"+line {number}" for number in range(10))
    assert same_approach(Past(sketch(one)), Past(sketch(one + "\n+one more")))
    assert same_approach(Past(sketch(one)), Past(sketch(one.replace("line 9", "row 9"))))
    assert not same_approach(Past(sketch(one)), Past(sketch(one.replace("line 9", "row 9").replace("line 8", "row 8"))))
    assert not same_approach(Past(sketch(one)), Past(sketch(one.replace("+", "-"))))


def test_short_diffs_are_the_same_only_when_they_are_equal_and_none_is_no_approach() -> None:
    assert same_approach(Past(("a", "b")), Past(("a", "b")))
    assert not same_approach(Past(("a", "b")), Past(("a", "b", "c")))
    assert not same_approach(Past(), Past())


def test_a_huge_diff_has_a_bounded_sketch_that_still_compares() -> None:
    huge = "\n".join(f"+line {number}" for number in range(20_000))
    nearly = huge.replace("line 1999\n", "row 1999\n")
    assert len(sketch(huge)) == 256
    assert same_approach(Past(sketch(huge)), Past(sketch(nearly)))
    assert not same_approach(Past(sketch(huge)), Past(sketch(huge.replace("line", "row"))))


def test_failures_are_compared_by_signature_and_nothing_equals_nothing_not() -> None:
    assert same_failure(Past(signature="x"), Past(signature="x"))
    assert not same_failure(Past(), Past())
